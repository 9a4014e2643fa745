"""The saved form of a transliterator: everything that decoding needs, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import FileFormatError, InvalidData, InvalidModel, InvalidParameter
from sigmastar.core.facts import Fact, Floats, proved
from sigmastar.core.model_files import Stored
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import Integer, check
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.threads import available_threads, limited_threads, over_rows
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.joint_beam import Options
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.answers import Answers, Spell, spelled
from sigmastar.transducers.transliteration.att import AttMachine, ngram_machine
from sigmastar.transducers.transliteration.candidates import Candidates, unit_options
from sigmastar.transducers.transliteration.chunk_transducer import ChunkTransducer
from sigmastar.transducers.transliteration.forms import (
    SOURCE_FORMS,
    TARGET_FORMS,
    in_form,
    speller,
)
from sigmastar.transducers.transliteration.log_linear import LogLinear
from sigmastar.transducers.transliteration.neural import Neural
from sigmastar.transducers.transliteration.reranker import choose, feature_scores
from sigmastar.transducers.transliteration.scorers import (
    KINDS,
    SCORERS,
    find_candidates,
    scorer_matrix,
    widths,
)

__all__ = ["TransliterationModel"]

_AT_ONCE = 512  # inputs that are searched together: memory does not grow with how many there are
_MORE = 8  # outputs that are looked at beyond those asked for
MOST_CANDIDATES = 10_000  # a search of more would take gigabytes for each input
_SETTINGS: dict[str, type] = {"beam": int, "n_candidates": int, "text": bool}
_FACTS: Mapping[str, Fact] = {
    "unit_weights": Floats("units"),
    "scorer_weights": Floats("scorers"),
    "feature_weights": Floats("features"),
}


@dataclass(frozen=True, eq=False)
class TransliterationModel(StoredModel):
    """A transliterator that decodes.

    Parameters
    ----------
    source_alphabet, target_alphabet : Alphabet
        The symbols read and written.
    method : str
        ``"combined"`` and ``"joint-ngram"`` search with the joint n-gram model, ``"combined"`` and
        ``"discriminative"`` with the discriminative transducer, ``"learnfst"``, ``"em"`` and
        ``"joint-spectral"`` with the transducer ``decoder``.
    parts : mapping
        The scorers by name.
    units, unit_weights : Units, array
        The inventory of the joint models (empty where there are none).
    scorer_weights : array
        One for each scorer of ``parts`` and the search, in the order of ``SCORERS``; the last
        belongs to the features.
    feature_weights : array
        Weights of hashed features; empty for none.
    settings : mapping
        ``beam`` and ``n_candidates``; ``text``: whether outputs are strings of characters;
        ``source_form`` and ``target_form``: what counts as a symbol; ``alignments``: whether the
        joint n-gram model adds up the alignments of an output or takes the best.
    decoder : ChunkTransducer or None
        The transducer of the methods that have just one.
    """

    source_alphabet: Alphabet
    target_alphabet: Alphabet
    method: str
    parts: Mapping[str, Any]
    units: Units
    unit_weights: FloatArray
    scorer_weights: FloatArray
    feature_weights: FloatArray
    settings: Mapping[str, Any]
    decoder: ChunkTransducer | None = None

    kind: ClassVar[str] = "Transliterator"

    def __post_init__(self) -> None:
        for name, array in proved(_FACTS, vars(self), units=len(self.units)).items():
            object.__setattr__(self, name, array)
        n_units, n_features = len(self.units), len(self.feature_weights)
        self.units.check(len(self.source_alphabet), len(self.target_alphabet))
        sizes = dict.fromkeys(("ngram", "reverse", "short"), n_units)
        sizes["target"] = len(self.target_alphabet)
        good = n_features & (n_features - 1) == 0
        good = good and len(self.scorer_weights) in (0, len(SCORERS) + 1)
        good = good and self.forms[0] in SOURCE_FORMS and self.forms[1] in TARGET_FORMS
        for name, part in self.parts.items():
            if name in sizes:
                good = good and part.n_units == sizes[name]
            elif name == "spectral":
                good = good and len(part.operators) == n_units + 2
            elif isinstance(part, (ChunkTransducer, LogLinear)):
                part.check(len(self.source_alphabet), len(self.target_alphabet))
            elif isinstance(part, Neural):
                part.check(len(self.source_alphabet), self.units)
        if self.decoder is not None:
            self.decoder.check(len(self.source_alphabet), len(self.target_alphabet))
        for name in ("beam", "n_candidates"):
            check(name, self.settings[name], Integer(1, MOST_CANDIDATES))
        good = good and bool((self.unit_weights > 0).all())
        good = good and (self.method != "combined" or len(self.scorer_weights) > 0)
        if not good:
            raise InvalidModel("the parts of a transliterator do not fit its inventory of units.")

    @property
    def forms(self) -> tuple[str, str]:
        """What counts as a symbol of the source and of the target; see ``forms``."""
        return str(self.settings["source_form"]), str(self.settings["target_form"])

    @property
    def sides(self) -> dict[str, str]:
        """What inputs and outputs are made of: "chars" or "words", as readers name it."""
        long = any(len(str(symbol)) > 1 for symbol in self.source_alphabet)
        target = "chars" if self.settings["text"] else "words"
        return {"source": "words" if long else "chars", "target": target}

    def n_best(
        self, source: Corpus, n_best: int = 1, *, beam: int | None = None, spell: Spell = list
    ) -> Answers:
        """Return the n best outputs of each input, as codes with log-scores (best first).

        ``spell`` turns codes into something else.
        """
        n_candidates, kept = widths(self.parts, self.settings)
        width = kept if beam is None else beam
        if self.decoder is not None:
            scores, found = self.decoder.n_best(source, n_best=n_best, beam=width)
            return [
                list(zip(map(spell, paths), map(float, row), strict=False))
                for paths, row in zip(found, scores, strict=True)
            ]
        answers: dict[int, Answers] = {}

        def answer(first: int, last: int) -> None:
            with limited_threads(available_threads() // max(1, len(starts))):
                for part in range(first, last):
                    rows = np.arange(starts[part], min(starts[part] + _AT_ONCE, len(source)))
                    own = self._search(source.take(rows), n_best, width, n_candidates)
                    answers[part] = spelled(*own, spell)

        starts = range(0, len(source), _AT_ONCE)
        with one_blas_thread():
            over_rows(answer, len(starts), least=1)
        return [found for part in range(len(starts)) for found in answers[part]]

    def _search(
        self, source: Corpus, n_best: int, width: int, n_candidates: int
    ) -> tuple[Corpus, FloatArray, IndexArray]:
        """Find candidates, and choose among them.

        Returns the n best outputs of one input after the other, their scores, and where those of
        each input begin.
        """
        wanted = n_best
        if self.method == "combined":
            wanted = max(n_best, n_candidates)
        by_best = self.method == "joint-ngram" and self.settings.get("alignments") == "best"
        if by_best:  # the search ranks by sums: what is best by one alignment is near the top
            wanted, width = n_best + _MORE, 2 * width
        # Alternatives that the user wants to see may be less likely than those worth judging.
        gap = 7.0 if n_best == 1 and not by_best else 12.0
        found_all = self.candidates(source, wanted, width, gap=gap)
        scores = found_all.log_prob
        if self.method == "combined" and len(found_all):
            scores = self.judge(found_all)
        elif by_best:
            path, ends = found_all.path, found_all.offsets
            scores = self.parts["ngram"].log_proba(path, ends, early=True)
        order = choose(scores, found_all.owner)
        groups = found_all.groups
        rank = np.arange(len(order)) - np.repeat(groups[:-1], np.diff(groups))
        order, counts = order[rank < n_best], np.minimum(np.diff(groups), n_best)
        ends = np.concatenate([[0], np.cumsum(counts)])
        return found_all.target.take(order), scores[order], ends

    def draw(
        self, source: Corpus, n_best: int = 1, *, draws: int = 1, random_state: RandomState = None
    ) -> Answers:
        """Draw outputs of each input; return the n commonest with the logs of their shares."""
        if self.decoder is None:
            raise InvalidParameter(
                "method must be 'learnfst', 'em' or 'joint-spectral' for outputs to be drawn; "
                f"this model has {self.method!r}. Search for its best outputs instead."
            )
        check("draws", draws, Integer(1, MOST_CANDIDATES))
        return self.decoder.commonest(source, n_best, draws=draws, random_state=random_state)

    def apply(
        self,
        X: Sequences,
        n_best: int = 1,
        *,
        beam: int | None = None,
        unknown: Unknown = "ignore",
        draws: int | None = None,
        random_state: RandomState = None,
    ) -> tuple[list[list[tuple[Any, float]]], dict[str, int]]:
        """Return the n best outputs of each input, spelled out with log-scores, and what was odd.

        Parameters
        ----------
        X : Corpus or iterable of sequences
            Inputs; an empty one gets no output.
        n_best, beam : int
            How many outputs to return, and to keep while searching.
        unknown : {"ignore", "error"}
            Leave symbols that were not learned out, or refuse them.
        draws : int, optional
            Draw so many outputs instead of searching: the n commonest are returned.
        random_state : int, Generator or None
            Makes what is drawn repeatable.
        """
        given = in_form(as_corpus(X), self.forms[0])
        source = given.recode(self.source_alphabet, unknown=unknown)
        usable = source.lengths > 0
        asked = source if usable.all() else source.take(np.flatnonzero(usable))
        spell = speller(self.target_alphabet, self.forms[1], self.settings["text"])
        if draws is None:
            best = self.n_best(asked, n_best, beam=beam, spell=spell)
        else:
            drawn = self.draw(asked, n_best, draws=draws, random_state=random_state)
            best = [[(spell(codes), value) for codes, value in found] for found in drawn]
        answered = iter(best)
        result = [next(answered) if there else [] for there in usable.tolist()]
        report = {
            "n_inputs": len(source),
            "n_empty": int((given.lengths == 0).sum()),
            "n_with_unknown": int((source.lengths < given.lengths).sum()),
            "n_without_output": sum(not found for found in result),
        }
        return result, report

    def predict(
        self, X: Sequences, *, beam: int | None = None, unknown: Unknown = "ignore"
    ) -> list[Any]:
        """Return the best output of each input (an empty one where there is none)."""
        return self.firsts(self.apply(X, 1, beam=beam, unknown=unknown)[0])

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of inputs whose best output is right."""
        if y is None and not isinstance(X, PairCorpus):
            X = PairCorpus.from_pairs(X)
        inputs, outputs = (X.source, X.target) if y is None else (as_corpus(X), as_corpus(y))
        if len(inputs) == 0:
            raise InvalidData("X must hold at least one pair to be scored; it is empty.")
        found = zip(self.predict(inputs), outputs, strict=True)
        return float(np.mean([list(guess) == list(truth) for guess, truth in found]))

    def firsts(self, found: list[list[tuple[Any, float]]]) -> list[Any]:
        """Return the first output of each input, an empty one where there is none."""
        empty: Any = "" if self.settings["text"] else []
        return [outputs[0][0] if outputs else empty for outputs in found]

    def candidates(self, source: Corpus, n_best: int, beam: int, *, gap: float = 7.0) -> Candidates:
        """Find candidates with the models that can search."""
        where = source, self.parts, self.units, self._options, self.target_alphabet
        return find_candidates(*where, n_best=n_best, beam=beam, gap=gap)

    @cached_property
    def _options(self) -> Options:
        """The units to consider for each input, laid out once."""
        return unit_options(self.units, self.unit_weights, self.parts.get("ngram"))

    def judge(self, found: Candidates) -> FloatArray:
        """Return the log-linear score of each candidate."""
        matrix = scorer_matrix(found, self.parts, self.units, self.unit_weights)
        total: FloatArray = matrix @ self.scorer_weights[:-1]
        if len(self.feature_weights):
            features = feature_scores(found, self.units, self.feature_weights)
            total = total + self.scorer_weights[-1] * features
        return total

    def facts(self) -> dict[str, Any]:
        """Return the method, its parts and the two alphabets."""
        return {
            "method": self.method,
            "reads": self.source_alphabet.shown(),
            "writes": self.target_alphabet.shown(),
            "units": len(self.units),
            "scorers": ", ".join(self.parts) or "none",
            "features": int((self.feature_weights != 0).sum()),
            "forms": " → ".join(self.forms),
        }

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        arrays: dict[str, Any] = {
            "unit_keys": self.units.keys,
            "unit_sizes": self.units.allowed.astype(np.uint8),
            "unit_weights": self.unit_weights,
            "scorer_weights": self.scorer_weights,
            "feature_weights": self.feature_weights.astype(np.float32),
        }
        meta: dict[str, Any] = {
            "source_alphabet": alphabet_to_json(self.source_alphabet),
            "target_alphabet": alphabet_to_json(self.target_alphabet),
            "method": self.method,
            "base": self.units.base,
            "settings": dict(self.settings),
            "parts": {},
        }
        parts = dict(self.parts) | ({} if self.decoder is None else {"decoder": self.decoder})
        for name, part in parts.items():
            stored = part.to_stored()
            meta["parts"][name] = stored.meta
            arrays |= {f"{name}:{key}": array for key, array in stored.arrays.items()}
        return Stored(self.kind, arrays, meta)

    @classmethod
    def from_stored(cls, stored: Stored) -> TransliterationModel:
        """Rebuild from named arrays and metadata."""
        meta = stored.meta
        try:
            parts: dict[str, Any] = {}
            for name, inner in meta["parts"].items():
                kind = ChunkTransducer if name == "decoder" else KINDS[name]
                parts[name] = kind.from_stored(Stored(name, stored.within(f"{name}:"), inner))
            keys, sizes = stored.array("unit_keys"), stored.array("unit_sizes")
            units = Units.from_arrays(keys, sizes, meta["base"])
            settings = {n: kind(meta["settings"][n]) for n, kind in _SETTINGS.items()}
            for name in ("source_form", "target_form"):  # files of version 0.1 have none
                settings[name] = str(meta["settings"].get(name, "given"))
            settings["alignments"] = str(meta["settings"].get("alignments", "sum"))
            method = str(meta["method"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FileFormatError(f"the transliterator file is malformed ({error!r}).") from None
        decoder = parts.pop("decoder", None)
        if decoder is None and not {"ngram", "discriminative"} & set(parts):
            raise FileFormatError("the transliterator file has no model to search with.")
        weights = proved(_FACTS, stored.arrays, units=len(units))
        # Files of earlier versions know fewer scorers; the last weight is that of the features.
        given = weights["scorer_weights"]
        if 0 < len(given) <= len(SCORERS):
            lacking = np.zeros(len(SCORERS) + 1 - len(given))
            weights["scorer_weights"] = np.concatenate([given[:-1], lacking, given[-1:]])
        return cls(
            alphabet_from_json(meta.get("source_alphabet")),
            alphabet_from_json(meta.get("target_alphabet")),
            method,
            parts,
            units,
            settings=settings,
            decoder=decoder,
            **weights,
        )

    def to_att(self) -> AttMachine:
        """Return the joint n-gram model as a weighted transducer in AT&T text.

        It reads and writes symbols in the forms of this model; the cheapest path through it is the
        likeliest alignment, as :meth:`apply` finds it in models learned with
        ``alignments="best"``; by default that adds up the alignments of an output.
        """
        if "ngram" not in self.parts:
            raise InvalidParameter(
                "a model must have a joint n-gram part to be written as AT&T text; this one has "
                f"the method {self.method!r}. Fit a Transliterator with method='joint-ngram'."
            )
        sides = self.source_alphabet, self.target_alphabet
        return ngram_machine(self.parts["ngram"], self.units, *sides)

    def to_openfst(self) -> Any:
        """Return a ``pynini.Fst`` of a proper decoder (method ``"em"``): inputs to outputs."""
        if self.decoder is None:
            raise InvalidParameter(
                f"method must be 'em' for export to OpenFst; this model has {self.method!r}. "
                "Fit a Transliterator with method='em'."
            )
        return self.decoder.model.to_openfst()

    def __repr__(self) -> str:
        return f"TransliterationModel(method={self.method!r}, scorers={sorted(self.parts)})"
