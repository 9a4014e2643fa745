"""``sigmastar bench tagging``: taggers of text beside published tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from sigmastar.cli import choices, options
from sigmastar.cli.bench_parts import collect
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, show_table

__all__ = ["tagging"]


def tagging(
    data: options.BenchData = None,
    table: Annotated[
        str,
        choice(
            "--table",
            choices.TABLES,
            "Kinds of transducers (1), languages (2), accuracy beside other taggers, "
            "composition with rules, discriminative training",
            "TABLE",
        ),
    ] = "all",
    long: Annotated[
        bool, option("--long", "Table 1: also all subsequences of three classes.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Print Tables 1 and 2 of Kempe (1997) with our figures, on public corpora.

    Table 1 trains an HMM on 20,000 words of Brown (lexicon and untagged text
    from 90 % of it) and compiles it into every kind of transducer; Table 2 does
    so for six languages; "accuracy" compares second-order taggers (from
    counts, and discriminative: CRF), their exact transducers and learned
    correction rules with HunPos; "composition" has tagger and learned rules as
    one transducer beside one after the other; "trained" has discriminative
    taggers, with and without untagged text, beside those from counts. Speeds
    are for one core, from integer classes to integer tags.

    [bold]Examples[/]
    sigmastar bench tagging --data ~/data --table 1
    sigmastar bench tagging --data ~/data --table composition --json
    """
    from sigmastar.bench import tagging as bench
    from sigmastar.bench import tagging_rules, tagging_trained

    figures: dict[str, Any] = {}
    if table in ("1", "all"):
        task = bench.brown_task(data)
        bench.compile_machines()
        rows = collect("Table 1", bench.machines(task, long=long), name=lambda row: row.name)
        figures["table1"] = [asdict(row) for row in rows]
        if not json:
            _machine_table(rows)
    if table in ("2", "all"):
        tasks = bench.six_languages(data)
        pairs = collect("Table 2", bench.languages(tasks), name=_label)
        figures["table2"] = [{"language": name} | asdict(row) for name, row in pairs]
        if not json:
            _language_table(pairs)
    if table in ("accuracy", "all"):
        pairs = collect("Accuracy", tagging_rules.accuracies(data), name=_label)
        figures["accuracy"] = [{"corpus": name} | asdict(row) for name, row in pairs]
        if not json:
            show_table(
                "Accuracy of the second-order tagger",
                ["corpus", "machine", "accuracy", "HunPos", "agreement", "M tokens/s"],
                [
                    (
                        name,
                        row.name,
                        f"{row.accuracy:.2%}",
                        f"{tagging_rules.PEERS[name]:.2f}%",
                        f"{row.agreement:.4%}" if row.agreement is not None else "",
                        f"{(row.tokens_per_second or 0) / 1e6:.1f}",
                    )
                    for name, row in pairs
                ],
            )
    if table in ("composition", "all"):
        english = tagging_rules.tagged_english(data)
        rows = collect(
            "Composition", tagging_rules.compositions(english), name=lambda row: str(row.corpus)
        )
        figures["composition"] = [asdict(row) for row in rows]
        if not json:
            _composition_table(rows)
    if table in ("trained", "all"):
        found = collect(
            "Training", tagging_trained.trained(data), name=lambda row: f"{row.corpus}, {row.name}"
        )
        figures["trained"] = [asdict(row) for row in found]
        if not json:
            show_table(
                "Discriminative training",
                ["corpus", "tagger", "accuracy", "unknown words", "lazy as Viterbi", "trained, s"],
                [
                    (
                        row.corpus,
                        row.name,
                        f"{row.accuracy:.2%}",
                        f"{row.unknown_accuracy:.2%} of {row.n_unknown:,}",
                        f"{row.agreement:.4%}",
                        f"{row.seconds:.0f}",
                    )
                    for row in found
                ],
            )
    if json:
        emit_json(figures)


def _label(pair: tuple[str, Any]) -> str:
    return f"{pair[0]}, {pair[1].name}"


def _machine_table(rows: list[Any]) -> None:
    """Print the machines of Table 1 beside the paper's."""
    from sigmastar.bench.papers.published_tagging import MACHINES

    accuracies, sizes = [], []
    for row in rows:
        old = MACHINES.get(row.name)
        paper = [""] * 5 if old is None else [f"{old.accuracy:.2f}", *map(_whole, old[1:])]
        speed = f"{(row.tokens_per_second or 0) / 1e6:.1f}"
        same = "" if row.agreement is None else f"{100 * row.agreement:.2f}"
        accuracies.append([row.name, f"{100 * row.accuracy:.2f}", paper[0], same, speed, paper[1]])
        built = "" if row.build_seconds is None else f"{row.build_seconds:.2f}"
        size = [_whole(row.n_states), paper[2], _whole(row.n_arcs), paper[3], built, paper[4]]
        if row.n_states:
            sizes.append([row.name, *size])
    title = "Kempe 1997, Table 1"
    names = ["machine", "accuracy %", "paper", "as HMM %", "M words/s", "paper, words/s"]
    show_table(f"{title}: accuracy and speed", names, accuracies)
    names = ["machine", "states", "paper", "arcs", "paper", "built, s", "paper"]
    show_table(f"{title}: size and time to build", names, sizes)


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _language_table(pairs: list[tuple[str, Any]]) -> None:
    """Print the languages of Table 2, the paper's figures in brackets."""
    from sigmastar.bench.papers.published_tagging import LANGUAGES

    names = list(dict.fromkeys(name for name, _ in pairs))
    kinds = list(dict.fromkeys(row.name for _, row in pairs))
    found = {(name, row.name): f"{100 * row.accuracy:.2f}" for name, row in pairs}

    def cell(name: str, kind: str) -> str:
        old = LANGUAGES.get(name.partition(" (")[0])
        published = f" ({old.accuracy[kind]:.2f})" if old and kind in old.accuracy else ""
        return found.get((name, kind), "") + published

    show_table(
        "Kempe 1997, Table 2: accuracy in per cent by language (the paper's in brackets)",
        ["machine", *names],
        [[kind, *(cell(name, kind) for name in names)] for kind in kinds],
    )


def _composition_table(rows: list[Any]) -> None:
    """Print tagger and rules as one transducer beside one after the other."""
    show_table(
        "Tagger and learned rules as one transducer; M words/s of it / of rules run afterwards",
        ["corpus", "rules", "agreement", "states", "built, s", "known text", "new text"],
        [
            (
                row.corpus,
                str(row.n_rules),
                f"{row.agreement:.4%}",
                _whole(row.n_states),
                f"{row.build_seconds:.2f}",
                _speeds(row.known_tokens_per_second, row.known_cascade_tokens_per_second),
                _speeds(row.new_tokens_per_second, row.new_cascade_tokens_per_second),
            )
            for row in rows
        ],
    )


def _speeds(one: float, cascade: float) -> str:
    return f"{one / 1e6:.2f} / {cascade / 1e6:.2f}"
