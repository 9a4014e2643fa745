"""The parts of a transliterator: aligned pairs, and every model that is learned from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sigmastar.core.rng import as_generator
from sigmastar.core.threads import available_threads, limited_threads, over_rows
from sigmastar.core.types import Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.learn.spectral import InputModel
from sigmastar.transducers.transliteration.alignment import Alignment, align_pairs
from sigmastar.transducers.transliteration.candidates import mirrored
from sigmastar.transducers.transliteration.chunk_learning import learn_chunk_transducer
from sigmastar.transducers.transliteration.chunk_transducer import ChunkTransducer
from sigmastar.transducers.transliteration.joint_ngram import learn_ngram
from sigmastar.transducers.transliteration.joint_spectral import learn_joint_spectral
from sigmastar.transducers.transliteration.log_linear import learn_log_linear
from sigmastar.transducers.transliteration.neural_training import learn_neural
from sigmastar.transducers.transliteration.recipe import Recipe, States

__all__ = ["Trained", "train_conditional", "train_parts"]

_ALONE = {
    "joint-ngram": ("ngram",),
    "joint-spectral": ("spectral",),
    "discriminative": ("discriminative",),
}


class Trained(NamedTuple):
    """Aligned pairs, and the models learned from them by name."""

    alignment: Alignment
    parts: Mapping[str, Any]


def train_parts(
    pairs: PairCorpus,
    recipe: Recipe,
    states: States,
    *,
    n_models: int = 1,
    n_networks: int = 2,
    earlier: Trained | None = None,
) -> Trained:
    """Align pairs, and learn the models that the method needs and those that judge for it.

    ``n_models`` discriminative ones make an ensemble, ``n_networks`` neural ones another, which
    goes on from what was learned ``earlier`` from some of the pairs.
    """
    known = None
    if earlier is not None and "neural" in earlier.parts:
        known = earlier.parts["neural"], earlier.alignment.units
    alignment = align_pairs(pairs, recipe.units, max_iter=recipe.align_iter)
    path, offsets, n_units = alignment.path, alignment.offsets, len(alignment.units)
    target, order = pairs.target, recipe.order
    size = len(target.alphabet)
    rng = as_generator(recipe.random_state)
    learners: dict[str, Callable[[], Any]] = {
        "ngram": lambda: learn_ngram(path, offsets, n_units=n_units, order=order),
        "reverse": lambda: learn_ngram(
            path[mirrored(offsets)], offsets, n_units=n_units, order=order
        ),
        "short": lambda: learn_ngram(path, offsets, n_units=n_units, order=3),
        "target": lambda: learn_ngram(target.symbols, target.offsets, n_units=size, order=order),
        "spectral": lambda: learn_joint_spectral(
            path, offsets, n_units=n_units, n_states=states.joint
        ),
        "learnfst": lambda: train_conditional(pairs, "learnfst", recipe, states).model,
        "em": lambda: train_conditional(pairs, "em", recipe, states).model,
        "discriminative": lambda: learn_log_linear(
            pairs, alignment, recipe.training(len(pairs), n_models), rng=rng
        ),
        "neural": lambda: learn_neural(
            pairs, alignment, recipe.course(len(pairs), n_networks), rng=rng, earlier=known
        ),
    }
    asked = _ALONE.get(recipe.method, ("ngram", *states.judges))
    names = [name for name in learners if name in asked]
    # Those that draw take turns, so that what they draw does not depend on who is faster.
    drawing = [name for name in names if name in ("discriminative", "neural")]
    turns = [drawing, *([name] for name in names if name not in drawing)]
    models: dict[str, Any] = {}
    threads = available_threads()

    def work(first: int, last: int) -> None:
        with limited_threads(threads):
            for turn in turns[first:last]:
                models.update({name: learners[name]() for name in turn})

    over_rows(work, len(turns), least=1)
    return Trained(alignment, {name: models[name] for name in names})


def train_conditional(
    pairs: PairCorpus,
    method: str,
    recipe: Recipe,
    states: States,
    inputs: InputModel = "independent",
) -> Learned[ChunkTransducer]:
    """Learn a conditional transducer by moments (``"learnfst"``) or by EM."""
    return learn_chunk_transducer(
        pairs,
        recipe.units,
        learner="spectral" if method == "learnfst" else "em",
        n_states=states.transducer,
        inputs=inputs,
        align_iter=recipe.align_iter,
        state_iter=recipe.state_iter,
        max_iter=recipe.max_iter,
        random_state=recipe.random_state,
    )
