"""Pairs of equal length: ``transducer train --model``, ``transducer report`` and ``recover``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import announce_stdin
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, show_saved, show_table
from sigmastar.cli.transducer_parts import (
    SOURCE,
    TARGET,
    ErrorOption,
    FormatOption,
    PairsArgument,
    StressOption,
    read_given,
)
from sigmastar.core.progress import stage

if TYPE_CHECKING:
    from sigmastar.corpus.pairs import PairCorpus
    from sigmastar.transducers.models.parametric import ParametricTransducer
    from sigmastar.transducers.models.transducer import Transducer

__all__ = ["EqualLengths", "EqualOptions", "recover", "report", "train_equal"]

PositionsOption = Annotated[
    str, choice("--positions", choices.POSITIONS, "Which three consecutive symbols count")
]
InputsOption = Annotated[
    str, choice("--inputs", choices.INPUT_MODELS, "How inputs may follow each other")
]


@dataclass(frozen=True)
class EqualLengths:
    """A transducer that writes a symbol for each that it reads, asked as a transliterator is."""

    machine: Transducer
    forms: tuple[str, str] = ("given", "given")

    @classmethod
    def of(cls, model: Transducer | ParametricTransducer) -> EqualLengths:
        """Take a transducer in either form."""
        from sigmastar.transducers.models.parametric import ParametricTransducer

        return cls(model.to_transducer() if isinstance(model, ParametricTransducer) else model)

    @property
    def source_alphabet(self) -> Any:
        """What it reads."""
        return self.machine.input_alphabet

    @property
    def target_alphabet(self) -> Any:
        """What it writes."""
        return self.machine.output_alphabet

    @property
    def sides(self) -> dict[str, str]:
        """What inputs and outputs are made of: "chars" or "words", as readers name it."""
        both = {"source": self.machine.input_alphabet, "target": self.machine.output_alphabet}
        return {
            name: "words" if any(len(str(symbol)) > 1 for symbol in alphabet) else "chars"
            for name, alphabet in both.items()
        }

    def apply(
        self,
        X: Any,
        n_best: int = 1,
        *,
        beam: int | None = None,
        unknown: Any = "ignore",
        draws: int | None = None,
        random_state: Any = None,
    ) -> tuple[list[list[tuple[Any, float]]], dict[str, int]]:
        """Return outputs of each input, spelled out with log-scores, and what was odd."""
        from sigmastar.corpus.corpus import as_corpus
        from sigmastar.transducers.inference import best_outputs, commonest, sample_outputs

        given = as_corpus(X)
        source = given.recode(self.machine.input_alphabet, unknown=unknown)
        if draws is None:
            width = 20 if beam is None else beam
            found = best_outputs(self.machine, source, n_best=n_best, beam=width)
        else:

            def draw(rng: Any) -> Any:
                return sample_outputs(self.machine, source, random_state=rng)

            drawn = commonest(draw, n_best, draws=draws, random_state=random_state)
            decode = self.machine.output_alphabet.decode
            found = [[(decode(codes), share) for codes, share in row] for row in drawn]
        text = self.sides["target"] == "chars"
        result: list[list[tuple[Any, float]]] = [
            [("".join(map(str, output)) if text else output, value) for output, value in row]
            if length
            else []
            for row, length in zip(found, source.lengths.tolist(), strict=True)
        ]
        report = {
            "n_inputs": len(source),
            "n_empty": int((given.lengths == 0).sum()),
            "n_with_unknown": int((source.lengths < given.lengths).sum()),
            "n_without_output": sum(not outputs for outputs in result),
        }
        return result, report


@dataclass(frozen=True)
class EqualOptions:
    """What ``train`` was asked for pairs of equal length."""

    model: str
    states: str
    positions: str
    inputs: str
    restarts: int
    seed: int


def train_equal(corpus: PairCorpus, asked: EqualOptions, output: Path, *, json: bool) -> None:
    """Learn a transducer over pairs of equal length, write it, and tell what it is like."""
    from sigmastar.transducers.estimators.baselines import JointHMMTransducer, KHMMTransducer
    from sigmastar.transducers.estimators.em import EMTransducer
    from sigmastar.transducers.estimators.spectral import SpectralTransducer

    size: Any = options.given_size(asked.states)
    if asked.model != "spectral" and size is None:
        raise typer.BadParameter(
            f"must be a number for --model {asked.model}; only spectral finds it by itself.",
            param_hint="'--states'",
        )
    counted: dict[str, Any] = {"positions": asked.positions}
    trials: dict[str, Any] = {"inputs": asked.inputs, "random_state": asked.seed}
    makers: Mapping[str, Any] = {
        "spectral": lambda: SpectralTransducer(size or "auto", **counted, **trials),
        "em": lambda: EMTransducer(size, n_restarts=asked.restarts, random_state=asked.seed),
        "joint-hmm": lambda: JointHMMTransducer(size, **counted),
        "k-hmm": lambda: KHMMTransducer(size, **counted),
    }
    estimator = makers[asked.model]()
    begin = time.perf_counter()
    with stage("Training"):
        estimator.fit(corpus)
    seconds = time.perf_counter() - begin
    estimator.save(output)
    summary = {
        "pairs": len(corpus),
        "seconds": seconds,
        "model": asked.model,
        "states": estimator.model_.n_states,
        "proper": estimator.model_.is_proper,
        "mean_log_probability": estimator.score(corpus),
    }
    show_saved("Learned from pairs of equal length", summary, output, json=json)


def report(
    pairs: PairsArgument,
    states: Annotated[int, option("--states -n", "Number of states to ask about.", "N", min=1)] = 2,
    positions: PositionsOption = "first",
    epsilon: Annotated[
        float, option("--epsilon", "Error of the sample bound, above 0 to 1.", "E", min=0, max=1)
    ] = 0.1,
    delta: Annotated[float, option("--delta", "Its risk, above 0 to 1.", "D", min=0, max=1)] = 0.05,
    source: Annotated[str, SOURCE] = "chars",
    target: Annotated[str, TARGET] = "chars",
    format: FormatOption = "tsv",
    stress: StressOption = True,
    on_error: ErrorOption = "raise",
    json: options.Json = False,
) -> None:
    """Check what spectral learning needs on pairs of equal length, before learning.

    The four assumptions, the singular values, the difficulty of the problem and
    how many pairs the theory asks for.

    [bold]Example[/]
    sigmastar transducer report same.tsv -n 2
    """
    from sigmastar.transducers.learn.theory import learnability
    from sigmastar.transducers.moments.trigrams import aligned_moments

    announce_stdin(pairs)
    sides = {"source": source, "target": target}
    corpus = read_given(pairs, sides, format=format, stress=stress, on_error=on_error)
    moments = aligned_moments(corpus, positions=positions)  # type: ignore[arg-type]
    found = learnability(moments, n_states=states, epsilon=epsilon, delta=delta)
    if json:
        emit_json(asdict(found) | {"singular_values": found.singular_values.tolist()})
        return
    holds = {True: "holds", False: "fails"}
    names = (
        "1: as many outputs as states",
        "2: initial states and outputs of full rank",
        "3: average transition of full rank",
        "4: every input occurs",
    )
    rows = [
        *((f"assumption {n}", holds[a]) for n, a in zip(names, found.assumptions, strict=True)),
        ("mean length λ", f"{found.mean_length:.3g}"),
        ("share of the rarest input μ", f"{found.rarest_input:.3g}"),
        ("σ of the outputs", f"{found.sigma_output:.3g}"),
        (f"σ of pairs of outputs, number {states}", f"{found.sigma_bigrams:.3g}"),
        ("their noise, at most about", f"{found.noise:.2g}"),
        ("difficulty c", f"{found.difficulty:.3g}"),
        (f"pairs for an error of {epsilon:g}, to a constant", f"{found.sample_bound:.3g}"),
    ]
    show_table(f"{pairs}, {len(corpus):,} pairs, {states} states", ("", "value"), rows)
    values = [(str(n + 1), f"{v:.4g}") for n, v in enumerate(found.singular_values[:10])]
    show_table("Singular values of pairs of outputs", ("state", "σ"), values)


def recover(
    pairs: PairsArgument,
    output: options.ModelOutput,
    states: Annotated[int, option("--states -n", "Number of states.", "N", min=1)] = 2,
    positions: PositionsOption = "first",
    inputs: Annotated[
        str,
        choice("--inputs", ("independent", "reweighted"), "How inputs may follow each other"),
    ] = "independent",
    source: Annotated[str, SOURCE] = "chars",
    target: Annotated[str, TARGET] = "chars",
    format: FormatOption = "tsv",
    stress: StressOption = True,
    on_error: ErrorOption = "raise",
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Recover initial, transition and output probabilities from pairs of equal length.

    By joint Schur decomposition; the model is proper and its states can be named.

    [bold]Example[/]
    sigmastar transducer recover same.tsv -n 2 -o states.sigma
    """
    from sigmastar.transducers.learn.recover import recover_parameters
    from sigmastar.transducers.moments.trigrams import aligned_moments

    announce_stdin(pairs)
    sides = {"source": source, "target": target}
    corpus = read_given(pairs, sides, format=format, stress=stress, on_error=on_error)
    moments = aligned_moments(corpus, positions=positions)  # type: ignore[arg-type]
    learned = recover_parameters(
        moments,
        n_states=states,
        inputs=inputs,  # type: ignore[arg-type]
        random_state=seed,
    )
    model = learned.model
    model.save(output)
    summary = {
        "pairs": len(corpus),
        "states": states,
        "moved": learned.info["moved"],
        "lower_energy": learned.info["lower_energy"],
    }
    show_saved("Recovered from pairs of equal length", summary, output, json=json)
    if not json:
        names = [str(symbol) for symbol in model.output_alphabet]
        rows = []
        for state, emission in enumerate(model.emission.tolist()):
            top = sorted(zip(emission, names, strict=True), key=lambda pair: -pair[0])[:5]
            written = "  ".join(f"{name} {share:.2f}" for share, name in top)
            rows.append((str(state), f"{model.initial[state]:.3f}", written))
        show_table("States", ("state", "starts", "writes"), rows)
