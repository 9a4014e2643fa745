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
            "Kinds of transducers (1), languages (2), accuracy beside other taggers",
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
    so for several languages; "accuracy" compares second-order taggers (from
    counts, and discriminative: CRF), their exact transducers and learned
    correction rules with HunPos. Speeds are for
    one core, from integer classes to integer tags.

    [bold]Example[/]
    sigmastar bench tagging --data ~/data --table 1
    """
    from sigmastar.bench import tagging as bench

    figures: dict[str, Any] = {}
    if table in ("1", "all"):
        rows = collect("Table 1", bench.machines(data, long=long), name=lambda row: row.name)
        figures["table1"] = [asdict(row) for row in rows]
        if not json:
            _machine_table(rows, bench.PAPER)
    if table in ("2", "all"):
        pairs = collect("Table 2", bench.languages(data), name=_label)
        figures["table2"] = [{"language": name} | asdict(row) for name, row in pairs]
        if not json:
            names = list(dict.fromkeys(name for name, _ in pairs))
            found = {(name, row.name): f"{row.accuracy:.2%}" for name, row in pairs}
            kinds = list(dict.fromkeys(row.name for _, row in pairs))
            show_table(
                "Kempe 1997, Table 2: accuracy by language",
                ["machine", *names],
                [[kind, *(found.get((name, kind), "") for name in names)] for kind in kinds],
            )
    if table in ("accuracy", "all"):
        pairs = collect("Accuracy", bench.accuracies(data), name=_label)
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
                        f"{bench.PEERS[name]:.2f}%",
                        f"{row.agreement:.4%}" if row.agreement is not None else "",
                        f"{(row.tokens_per_second or 0) / 1e6:.1f}",
                    )
                    for name, row in pairs
                ],
            )
    if json:
        emit_json(figures)


def _label(pair: tuple[str, Any]) -> str:
    return f"{pair[0]}, {pair[1].name}"


def _machine_table(rows: list[Any], paper: dict[str, Any]) -> None:
    """Print the machines of Table 1 beside the paper's."""

    def cells(row: Any) -> list[str]:
        old = paper.get(row.name, (None, None, None, None))
        return [
            row.name,
            f"{100 * row.accuracy:.2f}",
            f"{old[0]:.2f}" if old[0] else "",
            f"{row.n_states:,}" if row.n_states else "",
            f"{old[1]:,}" if old[1] else "",
            f"{row.build_seconds:.2f}" if row.build_seconds is not None else "",
            f"{old[3]:,.0f}" if old[3] else "",
            f"{(row.tokens_per_second or 0) / 1e6:.1f}",
        ]

    titles = ["machine", "acc. %", "paper", "states", "paper", "built, s", "paper", "M tok/s"]
    show_table("Kempe 1997, Table 1", titles, map(cells, rows))
