"""Contextual rules that change tags: ``IN -> WDT / NN _ VBZ``, one rule a line.

A rule rewrites its tag wherever the tags before end with the left pattern and the tags after begin
with the right one (either may be empty; see fst.patterns). Rules apply one after the other, each
from left to right over the whole sentence: the left pattern sees what the rule has written already.
``#`` begins a comment. Pynini compiles each rule into a transducer (Kaplan and Kay 1994; Mohri
and Sproat 1996); rules whose effect depends on unbounded right contexts are not sequential, and
say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter, MissingExtra, ParseError
from sigmastar.core.threads import over_rows
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.fst.compose import compose
from sigmastar.tagging.fst.openfst import NotSequential, from_openfst, load_pynini
from sigmastar.tagging.fst.patterns import TagAlphabet, one_of, parse_pattern, pattern_tokens
from sigmastar.tagging.fst.sequential import SequentialTransducer
from sigmastar.tagging.kernels.rules import apply_rules

Step = Callable[[SymbolArray, IndexArray, SymbolArray], SymbolArray]

__all__ = ["RuleSet", "TagRule", "parse_rules"]


@dataclass(frozen=True)
class TagRule:
    """One rule: ``source -> target / left _ right``; ``word`` limits it to one word."""

    source: str
    target: str
    left: str = ""
    right: str = ""
    word: str = ""

    def __str__(self) -> str:
        focus = f"{self.word}/{self.source}" if self.word else self.source
        context = f" / {self.left} _ {self.right}".rstrip() if self.left or self.right else ""
        return f"{focus} -> {self.target}{context}".replace("/  _", "/ _")

    def words(self, tags: Sequence[str]) -> set[str]:
        """Return the words that the rule mentions."""
        found = {self.word} if self.word else set()
        for side in (self.left, self.right):
            for token in pattern_tokens(side, None, tags):
                if "/" in token and token not in tags and token not in ("<s>", "</s>"):
                    found.add(token.rpartition("/")[0])
        return found


def parse_rules(text: str, tags: Sequence[str], path: str = "rules") -> list[TagRule]:
    """Read rules from text; a line that is none raises ParseError with its number."""
    rules = []
    known = set(tags)
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        content = content.split(" #", 1)[0].rstrip()
        change, _, context = content.partition(" / ")
        source, arrow, target = (part.strip() for part in change.partition("->"))
        if not arrow or not source or not target:
            raise ParseError(path, number, "TAG -> TAG / left _ right", repr(line[:60]))
        word = ""
        if source not in known and "/" in source:
            word, _, source = source.rpartition("/")
        for tag in (source, target):
            if tag not in known:
                raise ParseError(path, number, "a known tag", repr(tag))
        left = right = ""
        if context:
            sides = f" {context} ".split(" _ ")
            if len(sides) != 2:
                raise ParseError(path, number, "one _ between the contexts", repr(context[:60]))
            left, right = sides[0].strip(), sides[1].strip()
        rules.append(TagRule(source=source, target=target, left=left, right=right, word=word))
    return rules


class RuleSet:
    """Rules in order, compiled over the tags and the words that they mention.

    Parameters
    ----------
    rules : sequence of TagRule
        Applied one after the other.
    tags : sequence of str
        The tag set.

    Examples
    --------
    >>> rules = RuleSet.from_text("NN -> VB / TO _", ["DT", "NN", "TO", "VB"])
    >>> len(rules)
    1
    >>> print(rules, end="")
    NN -> VB / TO _
    """

    def __init__(self, rules: Sequence[TagRule], tags: Sequence[str]) -> None:
        self.rules = tuple(rules)
        self.tags = tuple(tags)
        words = sorted(set().union(*(rule.words(tags) for rule in rules)) if rules else set())
        self.alphabet = TagAlphabet(tags, words)
        self._steps: list[Any] | None = None
        self._reasons: list[str] = []

    @classmethod
    def from_text(cls, text: str, tags: Sequence[str], path: str = "rules") -> RuleSet:
        """Read rules from text; a pattern that is none is told here, not when rules are applied."""
        rules = cls(parse_rules(text, tags, path), tags)
        for rule in rules.rules:
            for side in (rule.left, rule.right):
                try:
                    parse_pattern(side, rules.alphabet)
                except MissingExtra:
                    return rules  # only patterns of single tags and words can be applied then
                except InvalidData as error:
                    raise InvalidData(f"rule {str(rule)!r}: {error}") from None
        return rules

    def over(self, tags: Sequence[str]) -> RuleSet:
        """Return the same rules over another tag set, which must have the tags that they change."""
        for rule in self.rules:
            missing = [tag for tag in (rule.source, rule.target) if tag not in tags]
            if missing:
                raise InvalidParameter(
                    f"rules must speak of the tagger's tags; {str(rule)!r} names {missing[0]!r}. "
                    f"The tags are {', '.join(tags)}."
                )
        return RuleSet(self.rules, tags)

    def __str__(self) -> str:
        return "".join(f"{rule}\n" for rule in self.rules)

    def __repr__(self) -> str:
        shown = [repr(str(rule)) for rule in self.rules[:3]]
        more = [f"… {len(self) - 3:,} more"] if len(self) > 3 else []
        return f"RuleSet([{', '.join([*shown, *more])}], {len(self.tags):,} tags)"

    def __len__(self) -> int:
        return len(self.rules)

    def to_openfst(self, rule: TagRule, alphabet: TagAlphabet | None = None) -> Any:
        """Compile one rule with Pynini (over the set's whole alphabet by default)."""
        pynini = load_pynini()
        symbols = alphabet or self.alphabet
        focus = f"{rule.word}/{rule.source}" if rule.word else rule.source
        shift = symbols.tags.index(rule.target) - symbols.tags.index(rule.source)
        change = one_of(symbols.codes(focus), shift)
        every = one_of(range(len(symbols))).star.optimize()
        try:
            left = parse_pattern(rule.left, symbols)
            right = parse_pattern(rule.right, symbols)
        except InvalidData as error:
            raise InvalidData(f"rule {str(rule)!r}: {error}") from None
        return pynini.cdrewrite(change, left, right, every)

    def to_transducer(self) -> SequentialTransducer:
        """Compose all rules into one sequential transducer from symbols to tags."""
        symbols = self.alphabet.symbols
        if not self.rules:
            raise InvalidData("there are no rules to compile.")
        machine: SequentialTransducer | None = None
        for rule in self.rules:
            try:
                one = from_openfst(self.to_openfst(rule), symbols, symbols)
            except NotSequential as error:
                raise NotSequential(f"rule {str(rule)!r} is not sequential: {error}") from None
            machine = one if machine is None else compose(machine, one)
        assert machine is not None
        return machine if not self.alphabet.words else _without_words(machine, self.tags)

    def apply(self, tags: SymbolArray, starts: IndexArray, words: SymbolArray) -> SymbolArray:
        """Apply the rules to tags; ``words`` numbers the mentioned words (0: not mentioned).

        Rules whose contexts are single tags or words at most two places away run in one kernel;
        other sequential rules as transducers; the rest by composition with Pynini, which is slow.
        """
        result = np.array(tags, np.int32)
        for step in self._plan():
            if isinstance(step, np.ndarray):
                _apply_simple(step, result, words, starts, len(self.tags))
            else:
                result = step(result, starts, words)
        return result

    @property
    def is_fixed(self) -> bool:
        """Whether all contexts are single tags or words at most two places away."""
        return all(self.fixed_contexts(rule) is not None for rule in self.rules)

    @property
    def is_sequential(self) -> bool:
        """Whether every rule runs deterministically (see ``why_not`` if not)."""
        return not self.why_not

    @property
    def why_not(self) -> list[str]:
        """Say for each rule that is not sequential why it is not."""
        self._plan()
        return list(self._reasons)

    def _plan(self) -> list[Any]:
        """Compile the rules once: arrays of simple rules, functions for the others."""
        if self._steps is None:
            steps: list[Any] = []
            reasons: list[str] = []
            for rule in self.rules:
                row = self.fixed_contexts(rule)
                if row is None:
                    steps.append(self._compiled(rule, reasons))
                elif steps and isinstance(steps[-1], np.ndarray):
                    steps[-1] = np.concatenate((steps[-1], row[None]))
                else:
                    steps.append(row[None])
            # Other threads see either nothing or all of it.
            self._reasons, self._steps = reasons, steps
        return self._steps

    def __getstate__(self) -> dict[str, Any]:
        # What was compiled holds functions and foreign machines; a copy compiles its own.
        return self.__dict__ | {"_steps": None, "_reasons": []}

    def fixed_contexts(self, rule: TagRule) -> SymbolArray | None:
        """Return the row of kernels.rules for a rule; None if it needs a transducer."""
        row = np.full(11, -1, np.int32)
        row[0], row[1] = self.tags.index(rule.source), self.tags.index(rule.target)
        if rule.word:
            row[2] = 1 + self.alphabet.words.index(rule.word)
        left = pattern_tokens(rule.left, None, self.tags)[::-1]
        right = pattern_tokens(rule.right, None, self.tags)
        for tokens, places, end in ((left, (5, 3), "<s>"), (right, (7, 9), "</s>")):
            if len(tokens) > 2:
                return None
            for token, place in zip(tokens, places, strict=False):
                if token.startswith("\0"):
                    return None
                if token in self.tags:
                    row[place] = self.tags.index(token)
                elif token == end:
                    row[place] = len(self.tags)
                elif token.endswith("/ANY"):
                    row[place + 1] = 1 + self.alphabet.words.index(token[:-4])
                else:
                    return None
        return row

    def machine_of(self, rule: TagRule) -> tuple[Any, SymbolArray]:
        """Compile a rule over the words that it mentions: a pynini.Fst, and their numbers there.

        The numbers are those of the words of this set, 0 for those that the rule does not mention.
        """
        words = tuple(sorted(rule.words(self.tags)))
        renumber = np.zeros(len(self.alphabet.words) + 1, np.int32)
        for place, word in enumerate(words, 1):
            renumber[1 + self.alphabet.words.index(word)] = place
        return self.to_openfst(rule, TagAlphabet(self.tags, words)), renumber

    def sequential(self, fst: Any, n_words: int) -> SequentialTransducer:
        """Make a compiled rule that mentions so many words deterministic; words are numbers."""
        symbols = TagAlphabet(self.tags, [str(word) for word in range(n_words)]).symbols
        return from_openfst(fst, symbols, symbols)

    def _compiled(self, rule: TagRule, reasons: list[str]) -> Step:
        """Compile a rule into a function on tags."""
        n = len(self.tags)
        fst, renumber = self.machine_of(rule)
        try:
            machine = self.sequential(fst, int(renumber.max()))
        except NotSequential as error:
            reasons.append(f"rule {str(rule)!r} is not sequential: {error}")
            return lambda tags, starts, spoken: _by_composition(
                fst, (tags + n * renumber[spoken]).astype(np.int32), starts, n
            )
        return lambda tags, starts, spoken: (
            machine.run_aligned((tags + n * renumber[spoken]).astype(np.int32), starts) % n
        ).astype(np.int32)


def _apply_simple(
    rules: SymbolArray, tags: SymbolArray, words: SymbolArray, starts: IndexArray, boundary: int
) -> None:
    over_rows(
        lambda a, b: apply_rules(rules, tags, words, starts[a : b + 1], boundary), len(starts) - 1
    )


def _by_composition(fst: Any, codes: SymbolArray, starts: IndexArray, n: int) -> SymbolArray:
    """Run sentences through a transducer that is not sequential, one composition each."""
    pynini = load_pynini()
    result = np.empty(len(codes), np.int32)
    for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        line = pynini.Fst()
        line.add_states(b - a + 1)
        line.set_start(0)
        line.set_final(b - a)
        for i, code in enumerate(codes[a:b].tolist()):
            line.add_arc(i, pynini.Arc(code + 1, code + 1, 0, i + 1))
        best = pynini.shortestpath(line @ fst).topsort()
        labels = [arc.olabel - 1 for state in best.states() for arc in best.arcs(state)]
        result[a:b] = [label % n for label in labels if label >= 0]
    return result


def _without_words(machine: SequentialTransducer, tags: Sequence[str]) -> SequentialTransducer:
    """Forget the words on the output side."""
    n, total = len(tags), len(machine.output_symbols)
    # Numbers of output strings: none, single symbols, longer ones.
    numbers = np.concatenate(
        ([0], 1 + np.arange(total) % n, 1 + n + np.arange(len(machine.pool.offsets)), [-1])
    )
    pool = machine.pool._replace(symbols=machine.pool.symbols % n)
    outputs, final = numbers[machine.outputs], numbers[machine.final]
    return SequentialTransducer(
        machine.next_states, outputs, final, pool, machine.inputs, tags
    ).minimized()
