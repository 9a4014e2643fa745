"""The tagger as a transducer: compiled from an HMM tagger, run as table look-ups."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.model_files import Stored
from sigmastar.core.rules import AnyOf, Choice, Integer, Nothing, check
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.tagging.decode import decode_classes, tag_chances
from sigmastar.tagging.fst.compose import compose
from sigmastar.tagging.fst.composed import ComposedTransducer, n_classes_of, one_after_the_other
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.fst.memory import MOST_STATES
from sigmastar.tagging.fst.ntype import greedy_machine, n_type
from sigmastar.tagging.fst.openfst import NotSequential
from sigmastar.tagging.fst.phrases import NOUN_PHRASE, phrase_transducer
from sigmastar.tagging.fst.rules import RuleSet, parse_rules
from sigmastar.tagging.fst.sequential import SequentialTransducer
from sigmastar.tagging.fst.stype import all_subsequences, s_type, subsequences_of
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.model import names_of
from sigmastar.tagging.taggers.hmm import HMMTagging
from sigmastar.tagging.taggers.sentences import check_own_names
from sigmastar.tagging.taggers.tagger import Tagger

__all__ = ["KINDS", "FSTTagger"]

KINDS = ("n0", "n1", "n2", "s", "s+n0", "s+n1", "s+n2", "lazy", "b")
_MOST_RULES_IN_A_TABLE = 8  # the states of a table may multiply with every rule
_FACTS = {"kind": "compiled_as", "hmm_order": "order", "n_states": "states", "n_arcs": "arcs"}


@dataclass(eq=False, repr=False)
class FSTTagger(Tagger, StoredModel):
    """A tagger that is a transducer from classes of words to tags.

    Build one with :meth:`from_hmm`.

    Attributes
    ----------
    machine : SequentialTransducer or LazyTransducer
        The transducer.
    vocabulary : Vocabulary
        From words to classes.
    tags : tuple of str
        The tags.
    info : dict
        Kind, numbers of states and arcs, build time, and agreement with the HMM on the corpus
        given to :meth:`from_hmm`.

    Examples
    --------
    >>> import sigmastar as ss
    >>> tagger = ss.HMMTagger(1).fit([["the", "dog"], ["to", "go"]], [["DT", "NN"], ["TO", "VB"]])
    >>> ss.FSTTagger.from_hmm(tagger, "lazy").predict([["to", "go"]])
    [['TO', 'VB']]
    """

    machine: SequentialTransducer | LazyTransducer
    vocabulary: Vocabulary
    tags: tuple[str, ...]
    info: dict[str, Any]
    rules: RuleSet | None = None
    phrases: SequentialTransducer | None = None

    kind: ClassVar[str] = "FSTTagger"

    def __post_init__(self) -> None:
        self._one: ComposedTransducer | None = None
        self._runs_as_one: bool | None = None  # not tried yet
        # The tagger without its phrases, and what marks them, as far as that is known.
        self._plain: tuple[FSTTagger, SequentialTransducer] | None = None
        if self.phrases is not None:
            info = {key: value for key, value in self.info.items() if key[:7] != "phrases"}
            tags = self.phrases.inputs
            plain = FSTTagger(self.machine, self.vocabulary, tags, info, self.rules)
            self._plain = (plain, self.phrases)

    @classmethod
    def from_hmm(
        cls,
        tagger: HMMTagging,
        kind: str = "lazy",
        *,
        corpus: Corpus | Iterable[Sequence[str]] | None = None,
        min_count: int = 1,
        max_length: int | None = None,
        look_ahead: int = 2,
        max_states: int = 1 << 20,
    ) -> FSTTagger:
        """Compile an HMM tagger into a transducer.

        Parameters
        ----------
        tagger : HMMTagger
            A fitted tagger, or one that was loaded. ``n2``, ``lazy`` and ``b`` follow its order,
            ``s+n2`` outside of what it covers; all else is of first order and uses its bigrams.
        kind : {"n0", "n1", "n2", "s", "s+n0", "s+n1", "s+n2", "lazy", "b"}
            Greedy machines; exact ones on covered subsequences, alone or completed with a greedy
            one; the exact one that grows while tagging; the same with bounded look-ahead.
        corpus : sentences, optional
            Untagged text: for ``s…`` without ``max_length``, where the subsequences
            come from; for every kind, where agreement with the HMM is measured. ``lazy`` and ``b``
            grow on it.
        min_count : int
            How often a subsequence must occur in the corpus.
        max_length : int, optional
            For ``s…``: take all subsequences of at most so many classes instead.
        look_ahead : int
            For ``b``: how many words later a tag is decided at the latest.
        max_states : int
            For ``b`` the states, for ``lazy`` the arcs to keep before the machine starts anew.
        """
        check("kind", kind, Choice(*KINDS))
        check("min_count", min_count, Integer(1))
        check("max_length", max_length, AnyOf(Integer(1), Nothing()))
        check("look_ahead", look_ahead, Integer(0))
        check("max_states", max_states, Integer(64, MOST_STATES))
        if not isinstance(tagger, HMMTagging):
            raise InvalidParameter(
                f"tagger must be an HMMTagger, fitted or loaded; got {type(tagger).__name__}."
            )
        model = tagger.trained_model
        if kind not in ("lazy", "b") and model.heeds_neighbours:
            raise InvalidParameter(
                f"kind={kind!r} takes words one by one; this tagger heeds their neighbours. Use "
                'kind="lazy", or train it with n_neighbours=0.'
            )
        runs = None if corpus is None else tagger.to_classes(corpus)
        began = time.perf_counter()
        machine: SequentialTransducer | LazyTransducer
        info: dict[str, Any] = {"kind": kind, "hmm_order": model.order}
        if kind.startswith("s"):
            first = model.first_order()
            if max_length is not None:
                parts = all_subsequences(first, max_length)
                info["max_length"] = max_length
            elif runs is not None:
                parts = subsequences_of(first, *runs, min_count)
                info["min_count"] = min_count
            else:
                raise InvalidParameter(
                    f"kind={kind!r} needs subsequences: pass corpus= (untagged sentences; --corpus "
                    "FILE) or max_length=2 (--max-length 2)."
                )
            info["n_subsequence_nodes"] = parts.n_nodes
            rest = greedy_machine(model, int(kind[-1])) if kind != "s" else None
            machine = s_type(first, parts, complete=kind != "s", completion=rest)
        elif kind in ("lazy", "b"):
            ahead = look_ahead if kind == "b" else None
            machine = LazyTransducer(model, max_states=max_states, look_ahead=ahead)
            if runs is not None:
                machine.grow(*runs)
        else:
            machine = n_type(model if kind == "n2" else model.first_order(), int(kind[1]))
        info["build_seconds"] = time.perf_counter() - began
        info["n_states"], info["n_arcs"] = machine.n_states, machine.n_arcs
        result = cls(machine, model.vocabulary, model.tags, info)
        if runs is not None and kind != "s":
            same = result.tag_classes(*runs) == decode_classes(model, *runs)
            info["agreement"] = float(same.mean()) if len(same) else 1.0
        return result

    def with_rules(
        self, rules: RuleSet, *, corpus: Corpus | Iterable[Sequence[str]] | None = None
    ) -> FSTTagger:
        """Return this tagger followed by correction rules, after any that it has already.

        Tagger and rules become one transducer: a few rules over tags and a table become another
        table; otherwise the composition grows while it tags (see fst.composed). Only rules that
        have no deterministic form run after the machine. ``info["rules"]`` says ``"composed"`` or
        ``"cascade"``, and ``info["rules_note"]`` why. Phrases are marked after the rules, whichever
        came first.

        Parameters
        ----------
        rules : RuleSet
            The rules, over the tagger's tags.
        corpus : sentences, optional
            Untagged text to grow on, where also the agreement with running the rules after the
            machine is measured (``info["rules_agreement"]``).
        """
        if "phrases" in self.info:
            if self._plain is None:
                raise InvalidParameter(
                    "rules must come before phrases in a tagger that was loaded with its phrases "
                    "composed into the machine. Build it anew: with_rules(…).with_phrases(…)."
                )
            plain, marker = self._plain
            return plain.with_rules(rules, corpus=corpus)._marked(marker)
        if not len(rules):
            return self
        check_own_names(self.tags, "rules")
        if rules.tags != self.tags:
            rules = rules.over(self.tags)
        before = self.info.get("n_rules")  # of a file, perhaps, and then of any type
        info = dict(self.info)
        info["n_rules"] = (before if isinstance(before, int) else 0) + len(rules)
        if (
            self.rules is None
            and isinstance(self.machine, SequentialTransducer)
            and not rules.alphabet.words
            and len(rules) <= _MOST_RULES_IN_A_TABLE
        ):
            try:
                return self._composed(self.machine, rules.to_transducer(), info, "rules")
            except NotSequential:
                pass
        vocabulary = self.vocabulary
        if self.rules is not None:
            # Words are told apart anew: those that the earlier rules name, and these.
            rules = RuleSet((*self.rules.rules, *rules.rules), self.tags)
            vocabulary = vocabulary.unmarked(self.n_classes)
        if rules.alphabet.words:
            vocabulary = vocabulary.marked(rules.alphabet.words, self.n_classes)
        tagger = FSTTagger(self.machine, vocabulary, self.tags, info, rules)
        one = tagger.as_one()
        if corpus is not None and one is not None:
            runs = tagger.to_classes(corpus)
            one.grow(*runs)
            same = one.run_aligned(*runs) == one.one_after_the_other(*runs)
            info["rules_agreement"] = float(same.mean()) if len(same) else 1.0
            info["n_states"], info["n_arcs"] = one.n_states, one.n_arcs
        return tagger

    def as_one(self) -> ComposedTransducer | None:
        """Return machine, rules and phrases as one transducer, which is made when first needed.

        None if there are neither rules nor phrases beside the machine, or if some of them must run
        after it; ``info`` says why.
        """
        if self._runs_as_one is None and (self.rules is not None or self.phrases is not None):
            how, note = "composed", ""
            most = self.machine.max_states if isinstance(self.machine, LazyTransducer) else 1 << 20
            try:
                self._one = ComposedTransducer(
                    self.machine, self.rules, self.phrases, max_states=most
                )
            except NotSequential as error:
                how, note = "cascade", str(error)
            for what, part in (("rules", self.rules), ("phrases", self.phrases)):
                if part is not None:
                    self.info |= {what: how, f"{what}_note": note}
                    if not note:
                        del self.info[f"{what}_note"]
        self._runs_as_one = self._one is not None
        return self._one

    def with_phrases(self, pattern: str | None = None, *, label: str = "NP") -> FSTTagger:
        """Return this tagger followed by the marking of phrases (see fst.phrases).

        They become one transducer, as with rules; ``info["phrases"]`` says ``"composed"``, or
        ``"cascade"`` where that cannot be.
        """
        if "phrases" in self.info:
            raise InvalidParameter(
                "the tagger marks phrases already. Start from the one without, and join both "
                "patterns with |."
            )
        check_own_names(self.tags, "phrases")
        chosen = NOUN_PHRASE if pattern is None else pattern
        return self._marked(phrase_transducer(self.tags, chosen, label=label))

    def _marked(self, marker: SequentialTransducer) -> FSTTagger:
        """Return this tagger followed by a marker of phrases."""
        info = dict(self.info)
        tagger: FSTTagger | None = None
        if self.rules is None and isinstance(self.machine, SequentialTransducer):
            try:
                tagger = self._composed(self.machine, marker, info, "phrases")
            except NotSequential:
                pass
        if tagger is None:
            names = marker.output_symbols
            tagger = FSTTagger(self.machine, self.vocabulary, names, info, self.rules, marker)
            tagger.as_one()
        tagger._plain = (self, marker)
        return tagger

    def _composed(
        self,
        machine: SequentialTransducer,
        after: SequentialTransducer,
        info: dict[str, Any],
        what: str,
    ) -> FSTTagger:
        """Return this tagger with its machine and the one after it as one."""
        one = compose(machine, after)
        info |= {what: "composed", "n_states": one.n_states, "n_arcs": one.n_arcs}
        return FSTTagger(one, self.vocabulary, one.output_symbols, info)

    @property
    def n_classes(self) -> int:
        """How many classes the machine reads."""
        return n_classes_of(self.machine)

    def __repr__(self) -> str:
        return f"FSTTagger(kind={self.info.get('kind')!r}, {self.machine!r})"

    def tag_classes(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Return the tags of class sequences, as numbers into ``tags_``."""
        one = self.as_one()
        if one is not None:
            return one.run_aligned(codes, starts)
        return one_after_the_other(self.machine, self.rules, self.phrases, codes, starts)

    @property
    def info_(self) -> dict[str, Any]:
        """``info``, by the name that estimators have for it."""
        return self.info

    @property
    def has_confidence(self) -> bool:
        """Whether :meth:`confidence` can be asked: machines that grow know the scores."""
        return isinstance(self.machine, LazyTransducer)

    def _chances(self, codes: SymbolArray, starts: IndexArray, tags: SymbolArray) -> FloatArray:
        """Return how likely tags are. Machines that grow know the scores; tables do not."""
        if not isinstance(self.machine, LazyTransducer):
            raise InvalidParameter(
                f"confidence needs the scores of the tagger, which a machine of kind "
                f'{self.info.get("kind")!r} does not have. Compile it with kind="lazy", or ask '
                "the tagger that it was made of."
            )
        if self.phrases is not None and self._plain is not None:  # tags without marks of phrases
            tags = self._plain[0].tag_classes(codes, starts)
        return tag_chances(self.machine.model, codes % self.n_classes, starts, tags)

    def facts(self) -> dict[str, Any]:
        """Return the kind of machine, its size and what it knows."""
        told = {
            _FACTS.get(key, key): value
            for key, value in self.info.items()
            if isinstance(value, (int, float, str))
        }
        return told | {
            "tags": len(self.tags),
            "classes": self.n_classes,
            "known_forms": len(self.vocabulary.forms),
            "rules": 0 if self.rules is None else len(self.rules.rules),
        }

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of the tagger."""
        arrays = self.vocabulary.to_arrays()
        meta: dict[str, Any] = {"tags": list(self.tags), "info": self.info}
        if self.rules is not None:
            meta["rules"] = str(self.rules)
        if self.phrases is not None:
            meta["phrases"] = list(self.phrases.output_symbols)
            meta["tags"] = list(self.phrases.inputs)
            arrays |= self.phrases.to_arrays("phrase_")
        if isinstance(self.machine, LazyTransducer):
            own, settings = self.machine.to_parts()
            arrays |= own
            meta |= settings
        else:
            arrays |= self.machine.to_arrays()
            meta["classes"] = list(self.machine.inputs)
        return Stored(self.kind, arrays, meta)

    @classmethod
    def from_stored(cls, stored: Stored) -> FSTTagger:
        """Rebuild from named arrays and metadata."""
        tags, info = names_of(stored, "tags"), stored.meta.get("info")
        if not isinstance(info, dict):
            raise InvalidData("the information in the model file is malformed.")
        machine: SequentialTransducer | LazyTransducer
        if "table" not in stored.arrays:
            machine = LazyTransducer.from_stored(stored)
            n_classes = machine.model.n_classes
        else:
            names = names_of(stored, "classes")
            machine = SequentialTransducer.from_arrays(stored.array, names, tags)
            n_classes = machine.n_inputs
        text = stored.meta.get("rules", "")
        rules = RuleSet(parse_rules(str(text), tags), tags)
        blocks = 1 + len(rules.alphabet.words)
        vocabulary = Vocabulary.from_arrays(stored.array, n_classes * blocks)
        phrases = None
        if "phrases" in stored.meta:
            marks = names_of(stored, "phrases")
            phrases = SequentialTransducer.from_arrays(
                lambda name: stored.array(f"phrase_{name}"), tags, marks
            )
            tags = marks
        tagger = cls(machine, vocabulary, tuple(tags), info, rules if len(rules) else None, phrases)
        if rules.is_fixed:
            tagger.as_one()  # files of old say that these run after the machine
        return tagger
