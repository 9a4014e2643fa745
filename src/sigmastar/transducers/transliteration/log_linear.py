"""A discriminative transducer: log P(units | x) as a sum of weights of features, normalised.

``kernels/unit_features`` says what features see, ``kernels/log_linear_training`` how their weights
are trained. Several models are trained on the same pairs in other orders and with other features
hidden; they share their features, so that the mean of their weights is their ensemble, and costs no
more to apply than one. (Features after DirecTL+: Jiampojamarn, Cherry and Kondrak 2010.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Codes, Fact, Floats, proved
from sigmastar.core.model_files import Stored
from sigmastar.core.progress import stage
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.beams import Found
from sigmastar.transducers.kernels.joint_beam import Options
from sigmastar.transducers.kernels.log_linear import WIDEST, Course, Machinery, best_sequences
from sigmastar.transducers.kernels.log_linear_training import score_sequences, train_sequences
from sigmastar.transducers.kernels.rerank import Ascending, UnitPaths
from sigmastar.transducers.kernels.unit_features import MOVING, STILL, UnitTraits
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.alignment import Alignment
from sigmastar.transducers.transliteration.candidates import Candidates, collect, unit_options
from sigmastar.transducers.transliteration.reranker import unit_marks
from sigmastar.transducers.transliteration.vowels import find_vowels

__all__ = ["LogLinear", "Training", "learn_log_linear"]

_ALL = np.ones((1, STILL + MOVING))
_END = 1 << 31  # as an output: a number that no other has
_MASKS = 1021  # words see different features in the next epoch: a prime divides few corpora


@dataclass(frozen=True)
class Training:
    """How a discriminative transducer is trained; found on development words of six languages."""

    n_epochs: int = 6
    n_models: int = 2
    rate: float = 0.1
    margin: float = 1.0
    hidden: float = 0.2  # the share of kinds of features that a word does not see
    width: int = 8
    gap: float = 12.0
    n_weights: int = 1 << 20


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A log-linear model of sequences of units; the inventory that it belongs to comes with it."""

    weights: FloatArray  # of hashed features; a power of two of them
    source_vowels: SymbolArray  # by input symbol: 1 for those that behave like vowels
    target_vowels: SymbolArray

    facts: ClassVar[dict[str, Fact]] = {
        "weights": Floats("weights"),
        "source_vowels": Codes("inputs", below=2),
        "target_vowels": Codes("outputs", below=2),
    }

    def __post_init__(self) -> None:
        arrays = {name: getattr(self, name) for name in self.facts}
        for name, array in proved(self.facts, arrays).items():
            object.__setattr__(self, name, array)
        size = len(self.weights)
        if size == 0 or size & (size - 1):
            raise InvalidModel(f"the weights of features must be a power of two many; got {size}.")

    def check(self, n_inputs: int, n_outputs: int) -> None:
        """Raise :class:`InvalidModel` unless the model knows every symbol."""
        if (len(self.source_vowels), len(self.target_vowels)) != (n_inputs, n_outputs):
            raise InvalidModel(
                "a discriminative transducer must know all symbols of its alphabets."
            )

    def traits(self, units: Units) -> UnitTraits:
        """Lay out what features see of the units of an inventory, and of the end after them."""
        marks = unit_marks(units)
        return UnitTraits(
            output=np.append(marks.output, _END),
            reads=np.append(marks.reads, 0).astype(np.int32),
            spelled=np.pad(units.outputs, ((0, 1), (0, 0)), constant_values=-1),
            source_vowels=self.source_vowels,
            target_vowels=self.target_vowels,
        )

    def search(
        self,
        source: Corpus,
        units: Units,
        options: Options,
        target_alphabet: Alphabet,
        *,
        n_best: int,
        beam: int,
        gap: float = 8.0,
    ) -> Candidates:
        """Find the n best outputs of each input, as :func:`gather_candidates` does."""
        found = Found.none(len(source), n_best, int(source.lengths.max(initial=0)) + 1)
        machinery = Machinery(options, self.traits(units), self.weights)
        longest = units.allowed.shape[0] - 1
        course = Course(longest, min(max(beam, n_best), WIDEST), gap, 0.0, 0.0, _ALL)

        def find(first: int, last: int) -> None:
            cut, rows = source.offsets[first : last + 1], found.rows(first, last)
            best_sequences(source.symbols, cut, machinery, course, rows)

        over_rows(find, len(source), least=8)
        return collect(source, found, units, target_alphabet)

    def log_proba(self, found: Candidates, units: Units) -> FloatArray:
        """Return the score of each candidate, up to a term that its input's candidates share."""
        scores, whole, traits = np.zeros(len(found)), found.arrays(), self.traits(units)

        def score(first: int, last: int) -> None:
            part = whole._replace(offsets=whole.offsets[first : last + 1])
            own = found.owner[first:last]
            score_sequences(part, own, traits, self.weights, _ALL[0], scores[first:last])

        over_rows(score, len(found))
        return scores

    def to_stored(self) -> Stored:
        """Give the named arrays of this model."""
        arrays = {name: getattr(self, name) for name in self.facts}
        return Stored("LogLinear", arrays | {"weights": self.weights.astype(np.float32)})

    @classmethod
    def from_stored(cls, stored: Stored) -> LogLinear:
        """Rebuild from named arrays."""
        return cls(**{name: stored.array(name) for name in cls.facts})


def learn_log_linear(
    pairs: PairCorpus, alignment: Alignment, training: Training, *, rng: np.random.Generator
) -> LogLinear:
    """Learn which sequence of units writes the right output, from aligned pairs."""
    vowels = find_vowels(pairs.source), find_vowels(pairs.target)
    model = LogLinear(np.zeros(training.n_weights), *vowels)
    units = alignment.units
    options, traits = unit_options(units, alignment.weights), model.traits(units)
    words = UnitPaths(pairs.source.symbols, pairs.source.offsets, alignment.path, alignment.offsets)
    sums = np.zeros((training.n_models, training.n_weights))
    seeds = rng.spawn(training.n_models)
    n_epochs, hidden = training.n_epochs, training.hidden
    with stage("discriminative training", training.n_models * n_epochs) as progress:

        def train(first: int, last: int) -> None:
            for number in range(first, last):
                draw = seeds[number]
                state = Ascending(np.zeros(training.n_weights), np.zeros(training.n_weights))
                for _ in range(n_epochs):
                    masks = (draw.random((_MASKS, STILL + MOVING)) >= hidden).astype(np.float64)
                    course = Course(
                        longest=units.allowed.shape[0] - 1,
                        width=training.width,
                        gap=training.gap,
                        rate=training.rate,
                        margin=training.margin,
                        masks=masks,
                    )
                    order = draw.permutation(len(pairs)).astype(np.int64)
                    reached = train_sequences(words, order, options, traits, state, course)
                    sums[number] += state.weights
                    progress.advance(1, f"{reached:.4f}")

        over_rows(train, training.n_models, least=1)
    weights = sums.sum(axis=0) / max(training.n_models * n_epochs, 1)
    return LogLinear(weights, *vowels)
