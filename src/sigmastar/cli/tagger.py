"""``sigmastar tagger``: train a tagger, compile it into a transducer, tag, evaluate, correct."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli.choices import (
    MACHINE_KINDS,
    SMOOTHING,
    TAG_INPUTS,
    TAG_OUTPUTS,
    TAGGED_FORMATS,
    TAGGER_CLASSES,
)
from sigmastar.cli.common import (
    ColumnOption,
    ModelOutputOption,
    TextOutputOption,
    announce_stdin,
    best_option,
    choice,
    load_kind,
    model_files,
    read_lines,
)
from sigmastar.cli.output import (
    JsonOption,
    emit_json,
    emit_lines,
    err,
    show_properties,
    show_table,
    writing,
    wrote,
)

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def _group() -> None:
    """Train part-of-speech taggers and compile them into transducers.

    [bold]Examples[/]
    sigmastar tagger train train.conllu -o hmm.sigma
    sigmastar tagger evaluate hmm.sigma test.conllu
    sigmastar tagger compile hmm.sigma -o fst.sigma
    echo "The dog barks ." | sigmastar tagger tag fst.sigma
    """


TaggedArgument = Annotated[
    str,
    typer.Argument(
        help="Tagged sentences: CoNLL-U, word/UPOS/XPOS columns, or word/TAG lines; - is stdin.",
        metavar="DATA",
    ),
]
TaggerArgument = Annotated[
    Path,
    typer.Argument(
        help="A tagger written by train or compile.", metavar="MODEL", autocompletion=model_files
    ),
]
TrainedArgument = Annotated[
    Path,
    typer.Argument(help="A tagger written by train.", metavar="MODEL", autocompletion=model_files),
]
FormatOption = Annotated[
    str | None,
    choice(
        "--format",
        "-f",
        names=TAGGED_FORMATS,
        help="Format of DATA, told by its name and content by default",
        metavar="FORMAT",
    ),
]


def _read(path: str, format: str | None, column: str) -> Any:
    from sigmastar.corpus.readers.api import read_tagged

    announce_stdin(path)
    return read_tagged(path, format, column=column)  # type: ignore[arg-type]


def _load(path: Path) -> Any:
    return load_kind(path, ("HMMTagger", "FSTTagger"), "a tagger", "sigmastar tagger train")


def _load_trained(path: Path) -> Any:
    tagger = _load(path)
    if type(tagger).__name__ == "FSTTagger":
        from sigmastar.core.errors import InvalidParameter

        raise InvalidParameter(
            f"MODEL must be a tagger written by train; {path} is compiled already. "
            "Pass the file that it was compiled from."
        )
    return tagger


def _sentences(path: str) -> list[list[str]]:
    """Read untagged text, one sentence a line."""
    return [line.split() for line in read_lines(path)]


@app.command()
def train(
    data: TaggedArgument,
    output: ModelOutputOption,
    order: Annotated[
        int,
        typer.Option("--order", min=1, max=2, help="Tags back that transitions look.", metavar="N"),
    ] = 2,
    classes: Annotated[
        str, choice("--classes", names=TAGGER_CLASSES, help="What words are taken for")
    ] = "words",
    lexical: Annotated[
        int,
        typer.Option(
            "--lexical",
            min=0,
            help="With sets: frequent ambiguous words with a class of their own.",
            metavar="N",
        ),
    ] = 0,
    max_classes: Annotated[
        int | None,
        typer.Option(
            "--max-classes",
            min=1,
            help="With sets: the most ambiguous classes to keep.",
            metavar="N",
        ),
    ] = None,
    smoothing: Annotated[
        str, choice("--smoothing", names=SMOOTHING, help="How rare tag sequences are estimated")
    ] = "witten-bell",
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            help="Share of the best tag's probability that a candidate needs.",
            metavar="X",
        ),
    ] = 0.02,
    untagged: Annotated[
        str | None,
        typer.Option(
            "--untagged",
            help="Text, one sentence a line: learn from it by Baum-Welch, and take only "
            "the lexicon from DATA.",
            metavar="FILE",
        ),
    ] = None,
    format: FormatOption = None,
    column: ColumnOption = "upos",
    json: JsonOption = False,
) -> None:
    """Train an HMM tagger from tagged sentences.

    [bold]Examples[/]
    sigmastar tagger train train.conllu -o hmm.sigma --column xpos
    sigmastar tagger train brown.txt -o sets.sigma --order 1 --classes sets
    """
    from sigmastar.core.progress import stage
    from sigmastar.tagging.counts import Lexicon
    from sigmastar.tagging.hmm_tagger import HMMTagger

    corpus = _read(data, format, column)
    tagger = HMMTagger(
        order,
        classes="sets" if untagged else classes,
        n_lexical=lexical,
        max_classes=max_classes,
        smoothing=smoothing,
        threshold=threshold,
    )
    began = time.perf_counter()
    with stage("Training"):
        if untagged is None:
            tagger.fit(corpus)
        else:
            tagger.fit(_sentences(untagged), lexicon=Lexicon.from_tagged(corpus))
    seconds = time.perf_counter() - began
    tagger.save(output)
    if json:
        emit_json(tagger.info_ | {"seconds": seconds, "saved": str(output)})
        return
    model = tagger.model_
    summary = {
        "sentences": len(corpus),
        "tags": model.n_tags,
        "classes": model.n_classes,
        "ambiguous_classes": int(model.is_ambiguous.sum()),
        "seconds": seconds,
    }
    show_properties("Trained a tagger", summary)
    wrote(output)


@app.command("compile")
def compile_(
    model: TrainedArgument,
    output: ModelOutputOption,
    kind: Annotated[
        str, choice("--kind", names=MACHINE_KINDS, help="What to build", metavar="KIND")
    ] = "lazy",
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            help="Untagged text, one sentence a line: subsequences and agreement.",
            metavar="FILE",
        ),
    ] = None,
    min_count: Annotated[
        int,
        typer.Option(
            "--min-count", help="s, s+n1: how often a subsequence must occur.", metavar="N"
        ),
    ] = 1,
    max_length: Annotated[
        int | None,
        typer.Option(
            "--max-length",
            help="s, s+n1: all subsequences of so many classes at most.",
            metavar="N",
        ),
    ] = None,
    look_ahead: Annotated[
        int, typer.Option("--look-ahead", help="b: decide a tag so many words later.", metavar="N")
    ] = 2,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules", help="Correction rules to compose (see: tagger rules).", metavar="FILE"
        ),
    ] = None,
    phrases: Annotated[bool, typer.Option("--phrases", help="Mark noun phrases as well.")] = False,
    pattern: Annotated[
        str | None,
        typer.Option(
            "--pattern", help="With --phrases: the phrase, as a pattern over tags.", metavar="TEXT"
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compile a tagger into a transducer.

    [bold]Examples[/]
    sigmastar tagger compile hmm.sigma -o fst.sigma --rules rules.txt --phrases
    sigmastar tagger compile sets.sigma -o s.sigma --kind s+n1 --corpus text.txt
    """
    from sigmastar.core.progress import stage
    from sigmastar.fst.rules import RuleSet
    from sigmastar.tagging.fst_tagger import FSTTagger

    hmm = _load_trained(model)
    text = _sentences(corpus) if corpus else None
    with stage(f"Compiling {kind}"):
        tagger = FSTTagger.from_hmm(
            hmm,
            kind,
            corpus=text,
            min_count=min_count,
            max_length=max_length,
            look_ahead=look_ahead,
        )
        if rules is not None:
            written = "\n".join(read_lines(rules))
            tagger = tagger.with_rules(RuleSet.from_text(written, tagger.tags, rules))
        if phrases or pattern:
            tagger = tagger.with_phrases(pattern)
    tagger.save(output)
    if json:
        emit_json(tagger.info | {"saved": str(output)})
        return
    show_properties("Compiled a tagger", tagger.info)
    wrote(output)


@app.command()
def tag(
    model: TaggerArgument,
    text: Annotated[
        str, typer.Argument(help="Text, already cut into tokens; - is stdin.", metavar="TEXT")
    ] = "-",
    output: TextOutputOption = "-",
    format: Annotated[
        str, choice("--format", "-f", names=TAG_INPUTS, help="Format of TEXT", metavar="FORMAT")
    ] = "lines",
    to: Annotated[
        str, choice("--to", "-t", names=TAG_OUTPUTS, help="Format to write", metavar="FORMAT")
    ] = "word/TAG",
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="How many threads; all by default.", metavar="N"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Tag text, as it comes: files of any size in little memory.

    [bold]Examples[/]
    echo "The dog barks ." | sigmastar tagger tag fst.sigma
    sigmastar tagger tag fst.sigma text.txt -o tagged.txt
    sigmastar tagger tag hmm.sigma test.conllu -f conllu -t conllu -o new.conllu
    """
    _limit(threads)
    tagger = _load(model)
    announce_stdin(text)
    began = time.perf_counter()
    source = sys.stdin.buffer if text == "-" else open(text, "rb")
    try:
        if json:
            sentences = _tagged(tagger, source, format)
            emit_json(sentences, output)
            return
        with writing(output) as target:
            n_sentences, n_words = tagger.tag_file(
                source, target, input_format=format, output_format=to
            )
    finally:
        if text != "-":
            source.close()
    seconds = time.perf_counter() - began
    if output != "-":
        rate = n_words / max(seconds, 1e-9) / 1e6
        err.print(
            f"{n_words:,} words in {n_sentences:,} sentences, {seconds:.2f} s "
            f"({rate:.2f} million words a second)"
        )
        wrote(output)


def _limit(threads: int | None) -> None:
    if threads is None:
        return
    import numba

    most = numba.config.NUMBA_NUM_THREADS
    if threads > most:
        raise typer.BadParameter(
            f"must be at most {most}, the threads there are; got {threads}.",
            param_hint="'--threads'",
        )
    numba.set_num_threads(threads)


def _tagged(tagger: Any, source: Any, format: str) -> list[list[dict[str, str]]]:
    """Tag a file into lists of words with their tags."""
    import io

    target = io.BytesIO()
    tagger.tag_file(source, target, input_format=format, output_format="tsv")
    blocks = target.getvalue().decode("utf-8", "surrogateescape").split("\n\n")
    return [
        [dict(zip(("word", "tag"), line.split("\t"), strict=True)) for line in block.split("\n")]
        for block in (block.strip("\n") for block in blocks)
        if block
    ]


@app.command()
def evaluate(
    model: TaggerArgument,
    data: TaggedArgument,
    best: Annotated[int, best_option("How many of the most frequent confusions.")] = 10,
    format: FormatOption = None,
    column: ColumnOption = "upos",
    json: JsonOption = False,
) -> None:
    """Compare a tagger's tags with the right ones.

    [bold]Example[/]
    sigmastar tagger evaluate hmm.sigma test.conllu --column xpos
    """
    from sigmastar.core.progress import stage
    from sigmastar.tagging.evaluation import evaluate_tagger

    tagger = _load(model)
    corpus = _read(data, format, column)
    with stage(f"Tagging {len(corpus):,} sentences"):
        result = evaluate_tagger(tagger, corpus)
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
    show_table(f"{model} on {data}", ("", "right", "of"), rows)
    if result["confusions"]:
        show_table(
            "Most frequent confusions",
            ("right", "given", "times"),
            [(x["right"], x["given"], f"{x['times']:,}") for x in result["confusions"][:best]],
        )


@app.command()
def rules(
    model: TrainedArgument,
    data: TaggedArgument,
    output: TextOutputOption = "-",
    max_rules: Annotated[
        int, typer.Option("--max-rules", help="How many rules to learn at most.", metavar="N")
    ] = 60,
    min_gain: Annotated[
        int,
        typer.Option(
            "--min-gain", help="Errors that a rule must correct more than it makes.", metavar="N"
        ),
    ] = 8,
    tags_only: Annotated[
        bool,
        typer.Option("--tags-only", help="No words in contexts: composes with any transducer."),
    ] = False,
    folds: Annotated[
        int,
        typer.Option(
            "--folds", help="Parts of the data, each tagged from the others.", metavar="N"
        ),
    ] = 5,
    format: FormatOption = None,
    column: ColumnOption = "upos",
    json: JsonOption = False,
) -> None:
    """Learn correction rules from a tagger's errors on its training data.

    The data are tagged fold by fold, each by a tagger with the settings of MODEL
    trained on the other folds. The rules are text, one a line, and may be edited
    or written by hand:

      that/IN -> WDT / NN _ VBZ     (word/TAG -> TAG / tags before _ after)

    [bold]Example[/]
    sigmastar tagger rules hmm.sigma train.conllu -o rules.txt --folds 2
    """
    from sigmastar.tagging.brill import held_out_tags, learn_rules

    hmm = _load_trained(model)
    corpus = _read(data, format, column)
    guessed = held_out_tags(hmm, corpus, folds)
    learned = learn_rules(
        corpus, guessed, max_rules=max_rules, min_gain=min_gain, use_words=not tags_only
    )
    texts = [str(rule) for rule in learned.rules]
    if output != "-" or not json:
        emit_lines(texts, output)
    if json:
        emit_json({"n_rules": len(texts), "rules": texts})
    elif output != "-":
        wrote(output, f"{len(texts)} rules")
