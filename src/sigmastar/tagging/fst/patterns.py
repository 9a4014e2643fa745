"""A small language for patterns over tags, compiled by Pynini.

``DT (JJ | CD)* NN+``: tags one after the other; ``|`` for choice, ``*`` ``+`` ``?`` for repetition,
parentheses for grouping, ``ANY`` for any tag. A tag may bear a word: ``that/IN``, ``to/ANY``.
``<s>`` and ``</s>`` are the beginning and the end of the sentence. A token that is a tag as a
whole is that tag, so the Brown tags ``*`` and ``md*`` need no quotes; ``"…"`` quotes any other tag.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sigmastar.core.errors import InvalidData, TooLarge
from sigmastar.tagging.fst.openfst import load_pynini

__all__ = ["TagAlphabet", "parse_pattern", "pattern_tokens"]

_TOKENS = re.compile(r'"[^"]*"|\S+')
_POSTFIX = "*+?"
MAX_PATTERN = 10_000
MAX_TOKENS = 1_000
MAX_DEPTH = 50
MAX_STATES = 5_000
MAX_ARCS = 20_000_000  # arcs without epsilon, for each state: two seconds or so of determinizing


class TagAlphabet:
    """Tags, and pairs of a mentioned word and a tag: the symbols that rules read and write.

    Symbols are ordered: the tags themselves (words that no rule mentions), then for each mentioned
    word a block of all tags.
    """

    def __init__(self, tags: Sequence[str], words: Sequence[str] = ()) -> None:
        self.tags = tuple(tags)
        self.words = tuple(words)
        self._tag = {tag: code for code, tag in enumerate(self.tags)}
        self._word = {word: number for number, word in enumerate(self.words, 1)}

    def __len__(self) -> int:
        return len(self.tags) * (len(self.words) + 1)

    @property
    def symbols(self) -> list[str]:
        """All symbols by name."""
        return [*self.tags, *(f"{word}/{tag}" for word in self.words for tag in self.tags)]

    def codes(self, text: str) -> list[int]:
        """Return the symbols that ``TAG``, ``ANY``, ``word/TAG`` or ``word/ANY`` stands for."""
        n = len(self.tags)
        if text in self._tag:
            return [self._tag[text] + n * block for block in range(len(self.words) + 1)]
        if text == "ANY":
            return list(range(len(self)))
        word, _, tag = text.rpartition("/")
        if word in self._word:
            block = n * self._word[word]
            if tag == "ANY":
                return list(range(block, block + n))
            if tag in self._tag:
                return [block + self._tag[tag]]
        raise InvalidData(
            f"{text!r} is not a tag. Tags are {', '.join(self.tags[:12])}"
            f"{', …' if len(self.tags) > 12 else ''}; ANY is any tag, word/TAG a certain word."
        )


def pattern_tokens(text: str, alphabet: TagAlphabet | None, tags: Sequence[str]) -> list[str]:
    """Cut a pattern into symbols and operators (operators are marked by a leading NUL)."""
    known = set(tags)
    tokens: list[str] = []
    for piece in _TOKENS.findall(text):
        if piece.startswith('"') and piece.endswith('"') and len(piece) > 1:
            tokens.append(piece[1:-1])
            continue
        while piece and piece not in known and piece[0] == "(":
            tokens.append("\0(")
            piece = piece[1:]
        closing: list[str] = []
        while piece and piece not in known and (piece[-1] == ")" or piece[-1] in _POSTFIX):
            closing.append("\0" + piece[-1])
            piece = piece[:-1]
        if piece in known:
            tokens.append(piece)
        else:
            for number, part in enumerate(piece.split("|")):
                if number:
                    tokens.append("\0|")
                if part:
                    tokens.extend(pattern_tokens(part, alphabet, tags) if part != piece else [part])
        tokens.extend(reversed(closing))
    return tokens


def parse_pattern(text: str, alphabet: TagAlphabet) -> Any:
    """Compile a pattern into an acceptor (a pynini.Fst)."""
    pynini = load_pynini()
    if "\0" in text:
        raise InvalidData(f"a pattern must not hold the character NUL; got {text!r}.")
    if len(text) > MAX_PATTERN:
        raise TooLarge(
            f"a pattern must have at most {MAX_PATTERN:,} characters; got {len(text):,}."
        )
    tokens = pattern_tokens(text, alphabet, alphabet.tags)
    if len(tokens) > MAX_TOKENS:
        raise TooLarge(
            f"a pattern must have at most {MAX_TOKENS:,} tags and operators; got {len(tokens):,}."
        )
    depth = place = 0

    def choice() -> Any:
        nonlocal place
        found = sequence()
        while place < len(tokens) and tokens[place] == "\0|":
            place += 1
            found = pynini.union(found, sequence())
        return found

    def sequence() -> Any:
        nonlocal place
        found = pynini.accep("")
        while place < len(tokens) and tokens[place] not in ("\0|", "\0)"):
            found = found + repeated()
        return found

    def repeated() -> Any:
        nonlocal place
        found = single()
        operators = set()
        while (
            place < len(tokens) and tokens[place].startswith("\0") and tokens[place][1] in _POSTFIX
        ):
            operators.add(tokens[place][1])
            place += 1
        if operators == {"?"}:
            found = found.ques
        elif operators:  # + and ? one after the other are *
            found = found.plus if operators == {"+"} else found.star
        if found.num_states() > MAX_STATES:
            raise _too_many()
        return found

    def single() -> Any:
        nonlocal place, depth
        token = tokens[place]
        place += 1
        if token == "\0(":
            depth += 1
            if depth > MAX_DEPTH:
                raise TooLarge(
                    f"a pattern must have at most {MAX_DEPTH} parentheses in each other."
                )
            inside = choice()
            depth -= 1
            if place >= len(tokens) or tokens[place] != "\0)":
                raise InvalidData(f"a ')' is missing in the pattern {text!r}.")
            place += 1
            return inside
        if token.startswith("\0"):
            raise InvalidData(f"{token[1:]!r} stands at the wrong place in the pattern {text!r}.")
        if token == "<s>":
            return pynini.accep("[BOS]")
        if token == "</s>":
            return pynini.accep("[EOS]")
        return one_of(alphabet.codes(token))

    result = choice()
    if place < len(tokens):
        raise InvalidData(f"there is a ')' too much in the pattern {text!r}.")
    return deterministic(result)


def deterministic(acceptor: Any) -> Any:
    """Return the smallest deterministic acceptor, unless it has too many states on the way."""
    pynini = load_pynini()
    without_epsilon = pynini.epsnormalize(acceptor).rmepsilon()
    # Of many parts that may be left out, each leads to all that come after it.
    states = without_epsilon.num_states()
    if states * sum(without_epsilon.num_arcs(state) for state in range(states)) > MAX_ARCS:
        raise _too_many()
    # One state more than allowed comes out where the bound cut the construction short.
    found = pynini.determinize(without_epsilon, nstate=MAX_STATES + 1)
    if found.num_states() > MAX_STATES:
        raise _too_many()
    return found.minimize()


def _too_many() -> TooLarge:
    return TooLarge(
        f"the pattern needs more than {MAX_STATES:,} states, or too many arcs. Shorten it: "
        "repetitions such as (A | B)* A ANY ANY ANY double the states with each ANY, and of parts "
        "that may be left out, A? B? C? …, each leads to all that follow."
    )


def one_of(codes: Sequence[int], shift: int = 0) -> Any:
    """Return the acceptor of one symbol out of some, or what writes the one so far behind it."""
    pynini = load_pynini()
    fst = pynini.Fst()
    fst.add_state()
    fst.add_state()
    fst.set_start(0)
    fst.set_final(1)
    for code in codes:
        fst.add_arc(0, pynini.Arc(code + 1, code + shift + 1, 0, 1))
    return fst
