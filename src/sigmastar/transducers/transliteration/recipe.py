"""What to learn and how: the parameters of a transliterator, each with its default and its rule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple, get_args, get_origin, get_type_hints

from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Choice, Instance, Integer, Real, Rule
from sigmastar.transducers.learn.spectral import InputModel
from sigmastar.transducers.transliteration.forms import SOURCE_FORMS, TARGET_FORMS
from sigmastar.transducers.transliteration.log_linear import Training
from sigmastar.transducers.transliteration.neural_training import Course

__all__ = ["JUDGES", "METHODS", "Recipe", "States"]

METHODS = ("combined", "discriminative", "joint-ngram", "joint-spectral", "learnfst", "em")
JUDGES = ("reverse", "short", "target", "spectral", "discriminative", "learnfst", "em", "neural")
OF_FEW = "reverse", "short", "target"  # pairs; others add little to them but seconds of compiling
WITH_NETWORKS = "reverse", "target", "neural"  # others add nothing to them
FEWEST_TAUGHT, MANY_TAUGHT = 300, 50_000  # pairs: of fewer networks learn nothing
MANY_WORDS = 30_000  # so many have features for a larger table
MOST_SHOWN = 120_000  # words that discriminative training goes through, in all rounds together
MOST_TAUGHT, MOST_ROUNDS = 80_000, 40  # words that a network goes through, and how often
# Many pairs are gone through a few times only, more a step: hardly anything can be learned by
# heart, and what is hidden to prevent that only delays.
MOST_OF_MANY, OF_MANY = 740_000, Course(batch=64, dropout=0.0, hidden=0.02)
MANY_PAIRS = 2000  # so many support a spectral automaton over units with many states


class States(NamedTuple):
    """What the number of pairs decides: the states of transducers and automata, and who judges."""

    transducer: int
    joint: int  # of spectral automata over units
    judges: tuple[str, ...]
    features: bool  # whether there are any to judge by


Sizes = Instance(tuple, list, words="a tuple of pairs (inputs, outputs)")
Names = Instance(tuple, list, words="a tuple of scorers' names")


@dataclass(eq=False, repr=False, kw_only=True)
class Recipe:
    """The parameters of :class:`sigmastar.Transliterator`, which says what they mean."""

    method: Annotated[str, Choice(*METHODS)] = field(default="combined", kw_only=False)
    units: Annotated[tuple[tuple[int, int], ...], Sizes] = ((1, 0), (1, 1), (1, 2), (1, 3))
    order: Annotated[int, Integer(1, 20)] = 6
    n_states: Annotated[int | str, AnyOf(Integer(1), Choice("auto"))] = "auto"
    scorers: Annotated[tuple[str, ...] | str, AnyOf(Choice("auto"), Names)] = "auto"
    n_folds: Annotated[int, Integer(2)] = 5
    n_candidates: Annotated[int, Integer(1, 10_000)] = 10
    beam: Annotated[int, Integer(1, 10_000)] = 20
    alignments: Annotated[str, Choice("sum", "best")] = "sum"
    align_iter: Annotated[int, Integer(0)] = 12
    state_iter: Annotated[int, Integer(0)] = 0
    max_iter: Annotated[int, Integer(0)] = 20
    inputs: Annotated[InputModel, Choice(*get_args(InputModel))] = "independent"
    source_form: Annotated[str, Choice("auto", *SOURCE_FORMS)] = "auto"
    target_form: Annotated[str, Choice("auto", *TARGET_FORMS)] = "auto"
    n_models: Annotated[int, Integer(1, 100)] = 4
    n_networks: Annotated[int, Integer(1, 100)] = 2
    n_epochs: Annotated[int, Integer(0)] = 4
    rate: Annotated[float, Real(0)] = 0.02
    random_state: RandomState = 0

    @classmethod
    def rules(cls) -> dict[str, Rule]:
        """Return the rule of each parameter that has one."""
        hints = get_type_hints(cls, include_extras=True)
        return {n: h.__metadata__[0] for n, h in hints.items() if get_origin(h) is Annotated}

    def judges(self, n_pairs: int) -> tuple[str, ...]:
        """Return the names of the scorers that judge after learning from so many pairs."""
        if self.scorers != "auto":
            return tuple(self.scorers)
        return OF_FEW if n_pairs < FEWEST_TAUGHT else WITH_NETWORKS

    def with_features(self, n_pairs: int) -> bool:
        """Tell whether hashed features take part in the combination."""
        few = self.scorers == "auto" and n_pairs < FEWEST_TAUGHT
        return not few and "neural" not in self.judges(n_pairs)

    def training(self, n_pairs: int, n_models: int) -> Training:
        """Return how to train so many discriminative transducers from so many pairs."""
        rounds = min(Training.n_epochs, max(1, MOST_SHOWN // n_pairs))
        return Training(
            n_epochs=rounds,
            n_models=max(1, min(n_models, MOST_SHOWN // (rounds * n_pairs))),
            n_weights=Training.n_weights * (2 if n_pairs > MANY_WORDS else 1),
        )

    def course(self, n_pairs: int, n_networks: int) -> Course:
        """Return how to train so many networks on so many pairs."""
        usual, most = (OF_MANY, MOST_OF_MANY) if n_pairs > MANY_TAUGHT else (Course(), MOST_TAUGHT)
        rounds = min(MOST_ROUNDS, max(1, round(most / n_pairs)))
        return replace(usual, n_models=n_networks, n_epochs=rounds)

    def states(self, n_pairs: int) -> States:
        """Return what to learn from so many pairs."""
        rest = self.judges(n_pairs), self.with_features(n_pairs)
        if self.n_states == "auto":
            return States(3, 40 if n_pairs >= MANY_PAIRS else 10, *rest)
        return States(int(self.n_states), int(self.n_states), *rest)
