"""``sigmastar demo``: the package from end to end in four short stories, without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sigmastar.cli import choices, options
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, out, show_table, shown, wrote
from sigmastar.core.errors import InvalidParameter

if TYPE_CHECKING:
    from sigmastar.bench.demo.automaton import AutomatonDemo
    from sigmastar.bench.demo.names import NamesDemo
    from sigmastar.bench.demo.sensors import SensorsDemo
    from sigmastar.bench.demo.text import TextDemo

__all__ = ["demo"]

_LETTERS = {"forward": "·", "slight-left": "l", "slight-right": "r", "sharp-right": "R"}


def demo(
    seed: Annotated[int, option("--seed", "Draws another machine and other walks.", min=0)] = 7,
    part: Annotated[
        list[str] | None,
        choice("--part", choices.DEMO_PARTS, "Which parts, all by default", many=True),
    ] = None,
    strings: Annotated[int, option("--strings", "Strings that the hidden machine writes.")] = 5000,
    output: Annotated[
        Path | None, option("--output -o", "Save the models learned in this directory.", "DIR")
    ] = None,
    page: Annotated[Path, option("--report", "Page to write.", "FILE")] = Path(
        "sigmastar-demo.html"
    ),
    json: options.Json = False,
) -> None:
    """Show what the package does, in four parts, on data that come with it.

    automaton: a random machine is learned back from its strings.
    text: a tagger of English is compiled into transducers.
    names: names are carried from Latin into Cyrillic letters.
    sensors: the movements of a robot are told from its sonars.

    The first run compiles the kernels and takes longer.

    [bold]Examples[/]

      sigmastar demo

      sigmastar demo --part text --part names --output models
    """
    from sigmastar.bench.demo import PARTS, run_demo, write_demo_report

    if output is not None and output.exists() and not output.is_dir():
        raise InvalidParameter(f"--output must be a directory; {str(output)!r} is a file.")
    wanted = [name for name in PARTS if name in part] if part else list(PARTS)
    told = 0

    def tell(name: str, result: Any) -> None:
        nonlocal told
        told += 1
        if not json:
            _STORIES[name](told, result)

    results = run_demo(part or PARTS, seed=seed, n_strings=strings, tell=tell)
    files = [] if output is None else results.save(output)
    write_demo_report(results, page)
    if json:
        emit_json(results.summary() | {"files": [str(path) for path in files], "report": str(page)})
        return
    out.print(f"[bold]Done[/] in {results.seconds:.0f} s: {', '.join(wanted)}.")
    for path in files:
        wrote(path)
    out.print(f"Report: [bold]{shown(str(page.resolve()))}[/]", soft_wrap=True)


def _title(number: int, text: str) -> None:
    out.print(f"[bold]{number}. {text}[/]\n")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _count(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def _automaton(number: int, found: AutomatonDemo) -> None:
    problem = found.problem
    _title(number, "A machine is learned back from what it writes")
    out.print(
        f"A hidden machine of {problem.model.n_states} states wrote {len(problem.train):,} strings "
        f"over {len(problem.train.alphabet)} symbols, such as:"
    )
    for sequence in [string for string in problem.train[:50] if len(string) > 2][:3]:
        out.print("     " + " ".join(map(str, sequence)))
    out.print(f"Each method sees those only, and is then asked about {len(problem.test)} others.\n")
    show_table(
        "Perplexity: lower is better, and nothing can be below the truth",
        ["method", "states", "perplexity", "wrong guesses", "seconds"],
        [
            (
                row.method,
                str(row.n_states),
                f"{row.perplexity:.3f}",
                _percent(row.word_error_rate),
                "" if row.seconds is None else f"{row.seconds:.2f}",
            )
            for row in found.rows
        ],
    )
    out.print(f"\nAfter {' '.join(found.prefix)}, {found.best.method} expects:")
    for symbol in found.following:
        out.print(f"     {symbol.symbol:4} {symbol.learned:.3f}   (truth {symbol.true:.3f})")
    out.print(
        f"Saved, that model takes {found.file_bytes:,} bytes: no pickle, nothing that runs when it "
        "is loaded.\n"
    )


def _text(number: int, found: TextDemo) -> None:
    _title(number, "English is tagged by a transducer")
    out.print(
        f"A hidden Markov model learns parts of speech from {len(found.train)} sentences and is "
        f"compiled into transducers; {len(found.test)} other sentences "
        f"({found.test.source.n_symbols:,} words) test them.\n"
    )
    show_table(
        "Words tagged right, agreement with Viterbi, and speed of decoding",
        ["tagger", "right", "new words", "Viterbi", "states", "arcs", "words/s"],
        [
            (
                row.method,
                _percent(row.accuracy),
                _percent(row.unknown_accuracy),
                _percent(row.agreement),
                _count(row.n_states),
                _count(row.n_arcs),
                "" if row.tokens_per_second is None else f"{row.tokens_per_second / 1e6:.1f} M",
            )
            for row in found.rows
        ],
    )
    out.print("\nSentences it had not seen (what is wrong is marked, with the right tag):")
    wrong = [e for e in found.examples if e.true != e.given]
    right = [e for e in found.examples if e.true == e.given]
    for example in [*sorted(right, key=lambda e: -len(e.words))[:2], *wrong[:1]]:
        tokens = [
            f"{shown(word)}[dim]/{tag}[/]"
            if tag == true
            else f"[bold red]{shown(word)}/{tag}[/] (right: {true})"
            for word, tag, true in zip(example.words, example.given, example.true, strict=True)
        ]
        out.print("     " + " ".join(tokens))
    out.print()


def _names(number: int, found: NamesDemo) -> None:
    _title(number, "Names change their alphabet")
    out.print(
        f"{len(found.train)} names in Latin and Russian letters teach how to spell "
        f"{len(found.test)} others.\n"
    )
    show_table(
        "Names spelt right, and edits needed for each letter",
        ["method", "right", "character errors", "seconds to learn", "names/s"],
        [
            (
                row.method,
                _percent(row.word_accuracy),
                _percent(row.character_error_rate),
                f"{row.seconds:.2f}",
                _count(row.names_per_second),
            )
            for row in found.rows
        ],
    )
    best = found.rows[-1].method
    out.print(f"\nNames it had not seen, and what {best} offers (share among three):")
    right = [e for e in found.examples if e.is_right]
    wrong = [e for e in found.examples if not e.is_right]
    for example in [*right[:: max(1, len(right) // 4)][:4], *wrong[:: max(1, len(wrong) // 2)][:2]]:
        offers = ", ".join(f"{text} {share:.0%}" for text, share in example.guesses)
        note = "" if example.is_right else f"   [red](right: {example.true})[/]"
        out.print(f"     {example.source:14} {offers}{note}")
    out.print()


def _sensors(number: int, found: SensorsDemo) -> None:
    _title(number, "A robot's movements are told from its sonars")
    walk = found.walks[0]
    out.print(
        f"A simulated robot follows walls. {found.n_train} walks of {len(walk)} steps, "
        f"{walk.shape[1]} noisy readings each, teach which way it moves; {len(found.walks)} walks "
        f"in other rooms test it. The commonest movement makes {_percent(found.majority)}.\n"
    )
    show_table(
        "Steps labelled right",
        ["tagger", "right", "states", "seconds to learn"],
        [
            (row.method, _percent(row.accuracy), str(row.n_states), f"{row.seconds:.2f}")
            for row in found.rows
        ],
    )
    legend = ", ".join(f"{letter} {name}" for name, letter in _LETTERS.items())
    out.print(f"\nThe first test walk ({legend}):")
    lines = [("truth", found.true[0]), *((row.method, row.given[0]) for row in found.rows)]
    width = max(len(name) for name, _ in lines)
    for name, labels in lines:
        text = "".join(_LETTERS[label] for label in labels)
        out.print(f"     {name:{width}} {text}", soft_wrap=True)
    out.print()


_STORIES: dict[str, Callable[[int, Any], None]] = {
    "automaton": _automaton,
    "text": _text,
    "names": _names,
    "sensors": _sensors,
}
