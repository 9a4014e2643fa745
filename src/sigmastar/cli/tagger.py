"""``sigmastar tagger``: train a tagger, compile it into a transducer, tag, evaluate, correct."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli.output import JsonOption, emit_json, err, out, show_table
from sigmastar.core.errors import InvalidParameter

__all__ = ["app"]

app = typer.Typer(
    help="Train part-of-speech taggers and compile them into transducers.", no_args_is_help=True
)

TaggedArgument = Annotated[
    Path,
    typer.Argument(help="Tagged sentences: CoNLL-U, word/UPOS/XPOS columns, or word/TAG lines."),
]
ModelArgument = Annotated[Path, typer.Argument(help="A tagger written by train or compile.")]
ColumnOption = Annotated[
    str, typer.Option("--column", help="Which tags of CoNLL-U or three columns: upos or xpos.")
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", help="conllu, tag-tsv or word-tag; found out by default."),
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="File to write.")]


def _read(path: Path, format: str | None, column: str) -> Any:
    from sigmastar.corpus.readers.api import read_tagged

    return read_tagged(path, format, column=column)  # type: ignore[arg-type]


def _load(path: Path) -> Any:
    from sigmastar.loading import load
    from sigmastar.tagging.fst_tagger import FSTTagger
    from sigmastar.tagging.hmm_tagger import HMMTagger

    tagger = load(path)
    if not isinstance(tagger, (HMMTagger, FSTTagger)):
        raise InvalidParameter(f"{path} must be a tagger; it holds a {type(tagger).__name__}.")
    return tagger


def _load_hmm(path: Path) -> Any:
    from sigmastar.tagging.hmm_tagger import HMMTagger

    tagger = _load(path)
    if not isinstance(tagger, HMMTagger):
        raise InvalidParameter(f"{path} is compiled already; pass a file written by train.")
    return tagger


def _text(path: Path) -> list[list[str]]:
    """Read untagged text, one sentence a line."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return [line.split() for line in file]


@app.command()
def train(
    data: TaggedArgument,
    output: OutputOption,
    order: Annotated[int, typer.Option(help="Tags back that transitions look: 1 or 2.")] = 2,
    classes: Annotated[
        str, typer.Option(help="words: every word its own scores; sets: ambiguity classes.")
    ] = "words",
    n_lexical: Annotated[
        int, typer.Option(help="With sets: frequent ambiguous words with a class of their own.")
    ] = 0,
    max_classes: Annotated[
        int | None, typer.Option(help="With sets: the most ambiguous classes to keep.")
    ] = None,
    smoothing: Annotated[str, typer.Option(help="witten-bell or deleted.")] = "witten-bell",
    threshold: Annotated[
        float, typer.Option(help="Share of the best tag's probability that a candidate needs.")
    ] = 0.02,
    untagged: Annotated[
        Path | None,
        typer.Option(
            help="Text, one sentence a line: learn from it by Baum-Welch, and take only "
            "the lexicon from the tagged data."
        ),
    ] = None,
    format: FormatOption = None,
    column: ColumnOption = "upos",
    json: JsonOption = False,
) -> None:
    """Train an HMM tagger from tagged sentences.

    [bold]Examples[/]

      sigmastar tagger train en_ewt-train.conllu -o en.sigma --column xpos

      sigmastar tagger train brown.txt -o small.sigma --order 1 --classes sets --max-classes 300
    """
    from sigmastar.tagging.counts import Lexicon
    from sigmastar.tagging.hmm_tagger import HMMTagger

    corpus = _read(data, format, column)
    tagger = HMMTagger(
        order,
        classes="sets" if untagged else classes,
        n_lexical=n_lexical,
        max_classes=max_classes,
        smoothing=smoothing,
        threshold=threshold,
    )
    began = time.perf_counter()
    if untagged is None:
        tagger.fit(corpus)
    else:
        tagger.fit(_text(untagged), lexicon=Lexicon.from_tagged(corpus))
    info = tagger.info_ | {"seconds": time.perf_counter() - began, "file": str(output)}
    tagger.save(output)
    if json:
        emit_json(info)
        return
    model = tagger.model_
    out.print(
        f"{model.n_tags} tags, {model.n_classes:,} classes ({int(model.is_ambiguous.sum()):,} "
        f"ambiguous), trained in {info['seconds']:.1f} s; written to {output}"
    )


@app.command("compile")
def compile_(
    model: Annotated[Path, typer.Argument(help="A tagger written by train.")],
    output: OutputOption,
    kind: Annotated[
        str, typer.Option(help="n0, n1, n2, s, s+n1, lazy (exact) or b (bounded look-ahead).")
    ] = "lazy",
    corpus: Annotated[
        Path | None,
        typer.Option(help="Untagged text, one sentence a line: subsequences and agreement."),
    ] = None,
    min_count: Annotated[int, typer.Option(help="s, s+n1: how often a subsequence occurs.")] = 1,
    max_length: Annotated[
        int | None, typer.Option(help="s, s+n1: all subsequences of so many classes at most.")
    ] = None,
    look_ahead: Annotated[int, typer.Option(help="b: decide a tag so many words later.")] = 2,
    rules: Annotated[
        Path | None, typer.Option(help="Correction rules to compose (see: tagger rules).")
    ] = None,
    phrases: Annotated[bool, typer.Option("--phrases", help="Mark noun phrases as well.")] = False,
    pattern: Annotated[
        str | None, typer.Option(help="With --phrases: the phrase, as a pattern over tags.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compile a tagger into a transducer.

    [bold]Examples[/]

      sigmastar tagger compile small.sigma -o fast.sigma --kind s+n1 --corpus text.txt --min-count 2

      sigmastar tagger compile en.sigma -o en-fst.sigma --rules rules.txt --phrases
    """
    from sigmastar.fst.rules import RuleSet
    from sigmastar.tagging.fst_tagger import FSTTagger

    hmm = _load_hmm(model)
    tagger = FSTTagger.from_hmm(
        hmm,
        kind,
        corpus=_text(corpus) if corpus else None,
        min_count=min_count,
        max_length=max_length,
        look_ahead=look_ahead,
    )
    if rules is not None:
        text = rules.read_text(encoding="utf-8")
        tagger = tagger.with_rules(RuleSet.from_text(text, tagger.tags, str(rules)))
    if phrases or pattern:
        tagger = tagger.with_phrases(pattern)
    tagger.save(output)
    if json:
        emit_json(tagger.info | {"file": str(output)})
        return
    show_table("", ("", str(output)), [(key, f"{value}") for key, value in tagger.info.items()])


@app.command()
def tag(
    model: ModelArgument,
    text: Annotated[
        str, typer.Argument(help="Text to tag, already cut into tokens; - is standard input.")
    ] = "-",
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write; - is stdout.")
    ] = "-",
    read: Annotated[
        str,
        typer.Option(
            "--input-format",
            "-i",
            help="lines: a sentence a line; tokens: a token a line, blank lines between; conllu.",
        ),
    ] = "lines",
    write: Annotated[
        str, typer.Option("--output-format", "-f", help="word/TAG, tsv or conllu.")
    ] = "word/TAG",
    threads: Annotated[int | None, typer.Option(help="How many threads; all by default.")] = None,
) -> None:
    """Tag text.

    [bold]Examples[/]

      sigmastar tagger tag en-fst.sigma text.txt -o tagged.txt

      echo "The dog barks ." | sigmastar tagger tag en.sigma
    """
    import numba

    if threads is not None:
        if not 1 <= threads <= numba.config.NUMBA_NUM_THREADS:
            raise InvalidParameter(
                f"threads must be between 1 and {numba.config.NUMBA_NUM_THREADS}; got {threads}."
            )
        numba.set_num_threads(threads)
    tagger = _load(model)
    source = sys.stdin.buffer if text == "-" else open(text, "rb")
    target = sys.stdout.buffer if output == "-" else open(output, "wb")
    began = time.perf_counter()
    try:
        sentences, words = tagger.tag_file(source, target, input_format=read, output_format=write)
    finally:
        if text != "-":
            source.close()
        target.flush()
        if output != "-":
            target.close()
    seconds = time.perf_counter() - began
    if output != "-":
        err.print(
            f"{words:,} words in {sentences:,} sentences, {seconds:.2f} s "
            f"({words / max(seconds, 1e-9) / 1e6:.2f} million words a second)"
        )


@app.command("eval")
def evaluate(
    model: ModelArgument,
    data: TaggedArgument,
    format: FormatOption = None,
    column: ColumnOption = "upos",
    errors: Annotated[int, typer.Option(help="How many frequent confusions to show.")] = 10,
    json: JsonOption = False,
) -> None:
    """Compare a tagger's tags with the right ones.

    [bold]Example[/]

      sigmastar tagger eval en.sigma en_ewt-test.conllu --column xpos
    """
    from sigmastar.tagging.evaluation import evaluate_tagger

    result = evaluate_tagger(_load(model), _read(data, format, column))
    if json:
        emit_json(result)
        return
    rows = [
        (name, f"{share:.2%}" if share is not None else "–", f"{count:,}")
        for name, share, count in (
            ("all words", result["accuracy"], result["n_words"]),
            ("known words", result["known_accuracy"], result["n_known"]),
            ("unknown words", result["unknown_accuracy"], result["n_unknown"]),
            ("whole sentences", result["sentence_accuracy"], result["n_sentences"]),
        )
    ]
    show_table("", ("", "right", "of"), rows)
    if errors and result["confusions"]:
        show_table(
            "most frequent confusions",
            ("right", "given", "times"),
            [(x["right"], x["given"], f"{x['times']:,}") for x in result["confusions"][:errors]],
        )


@app.command()
def rules(
    model: Annotated[
        Path, typer.Argument(help="A tagger written by train; its settings are used.")
    ],
    data: TaggedArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the rules.")],
    max_rules: Annotated[int, typer.Option(help="How many rules to learn at most.")] = 60,
    min_gain: Annotated[
        int, typer.Option(help="Errors that a rule must correct more than it makes.")
    ] = 8,
    tags_only: Annotated[
        bool,
        typer.Option("--tags-only", help="No words in contexts: composes with any transducer."),
    ] = False,
    folds: Annotated[int, typer.Option(help="Parts of the data, each tagged from the others.")] = 5,
    format: FormatOption = None,
    column: ColumnOption = "upos",
    json: JsonOption = False,
) -> None:
    """Learn correction rules from a tagger's errors on its training data.

    The data are tagged fold by fold, each by a tagger trained on the other
    folds. The rules are text, one a line, and may be edited or written by hand:

      that/IN -> WDT / NN _ VBZ          (word/TAG -> TAG / tags before _ tags after)

    [bold]Example[/]

      sigmastar tagger rules en.sigma en_ewt-train.conllu -o rules.txt --column xpos
    """
    from sigmastar.models.persist import atomic_write
    from sigmastar.tagging.brill import held_out_tags, learn_rules

    corpus = _read(data, format, column)
    guessed = held_out_tags(_load_hmm(model), corpus, folds)
    learned = learn_rules(
        corpus, guessed, max_rules=max_rules, min_gain=min_gain, use_words=not tags_only
    )
    atomic_write(output, str(learned).encode())
    if json:
        emit_json({"n_rules": len(learned), "rules": [str(rule) for rule in learned.rules]})
        return
    out.print(f"{len(learned)} rules written to {output}")
