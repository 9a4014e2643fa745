"""``sigmastar demo``: the main job from end to end on a problem drawn for the occasion."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli.output import JsonOption, emit_json, out, show_table

__all__ = ["demo"]


def demo(
    seed: Annotated[int, typer.Option("--seed", help="Draws another problem.")] = 7,
    strings: Annotated[int, typer.Option("--strings", help="Training strings to draw.")] = 5000,
    json: JsonOption = False,
) -> None:
    """Draw a random machine, learn it back by several methods, and compare with the truth.

    [bold]Example[/]

      sigmastar demo --seed 3
    """
    from sigmastar.datasets import make_problem
    from sigmastar.metrics import pautomac_perplexity

    problem = make_problem(
        "pfa", n_states=8, n_symbols=5, n_train=strings, n_test=500, random_state=seed
    )

    def say(text: str) -> None:
        if not json:
            out.print(text)

    say(
        f"[bold]1.[/] A hidden machine of {problem.model.n_states} states wrote "
        f"{len(problem.train):,} strings over {len(problem.train.alphabet)} symbols, such as:"
    )
    for sequence in list(problem.train[:3]):
        say("     " + (" ".join(map(str, sequence)) or "(the empty string)"))
    say("[bold]2.[/] Each method sees those strings only, and is then asked about 500 others.\n")
    rows = [_row("the true machine", problem.model, problem, None)]
    best: Any = None
    for name, estimator in _contenders(seed).items():
        began = time.perf_counter()
        estimator.fit(problem.train)
        rows.append(_row(name, estimator, problem, time.perf_counter() - began))
        perplexity = pautomac_perplexity(estimator, problem.test, problem.solution)
        if best is None or perplexity < best[0]:
            best = (perplexity, name, estimator)
    _, name, estimator = best
    prefix = next(s for s in problem.test if len(s) >= 3)[:3]
    guesses = estimator.predict_next([prefix], k=3)[0]
    truth = problem.model
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "best.sigma"
        estimator.model_.save(path)
        size = path.stat().st_size
    if json:
        emit_json({"rows": rows, "best": name, "file_bytes": size})
        return
    show_table(
        "Perplexity (lower is better; nothing can be below the truth) and wrong predictions",
        ["method", "states", "perplexity", "wrong next symbols", "seconds"],
        [
            (
                row["method"],
                str(row["states"]),
                f"{row['perplexity']:.3f}",
                f"{100 * row['word_error_rate']:.1f} %",
                "" if row["seconds"] is None else f"{row['seconds']:.2f}",
            )
            for row in rows
        ],
    )
    out.print(f"\n[bold]3.[/] After {' '.join(map(str, prefix))}, {name} expects:")
    from sigmastar.inference import next_distribution

    actual = dict(
        zip([*map(str, truth.alphabet), "END"], next_distribution(truth, [prefix])[0], strict=True)
    )
    for symbol, p in guesses:
        out.print(f"     {symbol!s:4} {p:.3f}   (truth {actual[str(symbol)]:.3f})")
    out.print(
        f"\n[bold]4.[/] Saved, the best model takes {size:,} bytes: "
        "no pickle, nothing that runs when it is loaded."
    )


def _contenders(seed: int) -> dict[str, Any]:
    from sigmastar.estimators.baum_welch import BaumWelchPFA
    from sigmastar.estimators.separable import SeparablePFA
    from sigmastar.estimators.spectral import SpectralWFA

    return {
        "spectral": SpectralWFA(random_state=seed),
        "separable": SeparablePFA(random_state=seed),
        "Baum-Welch": BaumWelchPFA(12, max_iter=100, validation_fraction=0.1, random_state=seed),
        "spectral, then Baum-Welch": BaumWelchPFA(
            12,
            init=SpectralWFA(random_state=seed),
            max_iter=100,
            validation_fraction=0.1,
            random_state=seed,
        ),
    }


def _row(name: str, model: Any, problem: Any, seconds: float | None) -> dict[str, Any]:
    from sigmastar.metrics import pautomac_perplexity, word_error_rate

    machine = getattr(model, "model_", model)
    return {
        "method": name,
        "states": machine.n_states,
        "perplexity": pautomac_perplexity(model, problem.test, problem.solution),
        "word_error_rate": word_error_rate(model, problem.test),
        "seconds": seconds,
    }
