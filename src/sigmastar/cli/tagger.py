"""``sigmastar tagger``: train a tagger, compile it into a transducer, tag, evaluate, correct."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from sigmastar.cli import choices, options, tagger_make, tagger_text
from sigmastar.cli.inputs import announce_stdin, load_kind, reading_of
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, show_table, tell_rate, writing
from sigmastar.cli.parts import Spread, apply_to_files, as_it_is, digest_of, tell_written
from sigmastar.cli.tagger_parts import (
    TaggedArgument,
    TaggerArgument,
    load_tagger,
    read_gold,
)
from sigmastar.cli.tagger_text import evaluate_text, pipeline_of, tag_text, tell_uncut
from sigmastar.core.progress import stage

if TYPE_CHECKING:
    from sigmastar.corpus.part_sources import FileSpan

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


app.command()(tagger_make.train)
app.command("compile")(tagger_make.compile_)
app.command()(tagger_make.lemmas)
app.command()(tagger_text.tokens)
app.command()(tagger_text.pipeline)


@app.command()
def tag(
    model: TaggerArgument,
    text: Annotated[
        str, typer.Argument(help="Text, cut into tokens unless --raw; - is stdin.", metavar="TEXT")
    ] = "-",
    output: options.TextOutput = "-",
    format: Annotated[
        str | None,
        choice("--format -f", choices.TAG_INPUTS, "Format of TEXT, CoNLL-U is told", "FORMAT"),
    ] = None,
    to: Annotated[
        str | None,
        choice("--to -t", choices.TAG_OUTPUTS, "Format to write [default: word/TAG]", "FORMAT"),
    ] = None,
    column: options.TagColumn = None,
    lemmas: Annotated[
        Path | None,
        option("--lemmas", "With -t conllu: lemmas to write, learned by lemmas.", "FILE"),
    ] = None,
    raw: Annotated[
        bool, option("--raw", "TEXT is not cut into tokens; pipelines take it so anyway.")
    ] = False,
    tokens: Annotated[
        Path | None,
        option("--tokens", "With --raw: what cuts the text, learned by tokens.", "FILE"),
    ] = None,
    threads: Annotated[
        int | None, option("--threads", "How many threads; all by default.", "N", min=1)
    ] = None,
    output_dir: options.OutputFolder = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    scratch: options.Scratch = None,
    memory: options.Memory = None,
    on_error: options.OnError = "raise",
    json: options.Json = False,
) -> None:
    """Tag text, as it comes: files of any size in little memory.

    A pattern or a directory as TEXT is tagged part by part into --output-dir;
    its files may be compressed.

    [bold]Examples[/]
    echo "The dog barks ." | sigmastar tagger tag fst.sigma
    sigmastar tagger tag fst.sigma text.txt -o tagged.txt
    sigmastar tagger tag hmm.sigma test.conllu -t conllu -o new.conllu
    sigmastar tagger tag hmm.sigma text.txt -t conllu --lemmas lemmas.sigma
    sigmastar tagger tag fst.sigma 'text*.txt' --output-dir tagged
    sigmastar tagger tag en.sigma book.txt -o book.conllu
    echo "It's raw, isn't it?" | sigmastar tagger tag fst.sigma --raw
    """
    from sigmastar.corpus.readers.detect import detect_format, format_of
    from sigmastar.corpus.readers.source import Source

    _limit(threads)
    tagger = load_tagger(model)
    where = column or reading_of(model).get("column")
    lemmatizer = None
    if lemmas is not None:
        lemmatizer = load_kind(lemmas, ("Lemmatizer",), "a lemmatizer", "sigmastar tagger lemmas")
    if tagger.kind == "Pipeline" or raw or tokens is not None:
        _refuse_for_raw(format, output_dir, workers, cluster, scratch, memory)
        whole = pipeline_of(tagger, tokens, lemmatizer, where)
        tag_text(whole, text, output, to or "conllu", json)
        return
    to = to or "word/TAG"
    spread = Spread(workers, cluster, scratch, memory, on_error)
    if output_dir is not None or spread.wanted(text):
        given = format or "lines"
        cut_as = "words" if given == "lines" else "conllu"
        job = f"tag {digest_of(model)} {given} {to} {where}"
        if lemmas is not None:
            job += f" {digest_of(lemmas)}"
        written = apply_to_files(
            partial(_tag_part, tagger, lemmatizer, given, to, where),
            as_it_is,
            text,
            cut_as,
            folder=output_dir,
            job=job,
            spread=spread,
        )
        tell_written(written, output_dir, ("sentences", "words"), json=json)
        return
    announce_stdin(text)
    began = time.perf_counter()
    with Source(text) as source:
        if format is None:
            # A pipe is looked at no further than it takes to answer its first line.
            known = format_of(source.first()) if text == "-" else detect_format(source, None)
            format = "conllu" if known == "conllu" else "lines"
        if format == "lines":
            tell_uncut(source.first())
        if json:
            sentences = _tagged(tagger, source, format)
            if lemmatizer is not None:
                for word in (word for sentence in sentences for word in sentence):
                    word["lemma"] = lemmatizer.lemma(word["word"], word["tag"])
            emit_json(sentences, output)
            return
        with writing(output) as target:
            formats = {"input_format": format, "output_format": to, "column": where}
            n_sentences, n_words = tagger.tag_file(source, target, lemmatizer=lemmatizer, **formats)
    if output != "-":
        tell_rate(n_words, n_sentences, time.perf_counter() - began, output)


def _refuse_for_raw(format: str | None, *spread: object) -> None:
    if format is not None:
        raise typer.BadParameter(
            f"must be left out for raw text; got {format}.", param_hint="'--format'"
        )
    if any(value is not None for value in spread):
        raise typer.BadParameter(
            "raw text is tagged file by file: run the command once for each.",
            param_hint="'--output-dir'",
        )


def _tag_part(
    tagger: Any,
    lemmatizer: Any,
    format: str,
    to: str,
    column: str | None,
    part: FileSpan,
    target: BinaryIO,
) -> tuple[int, int]:
    formats = {"input_format": format, "output_format": to, "column": column}
    with part.stream() as source:
        counts: tuple[int, int] = tagger.tag_file(source, target, lemmatizer=lemmatizer, **formats)
    return counts


def _limit(threads: int | None) -> None:
    if threads is None:
        return
    import os

    from sigmastar.core.threads import available_threads

    most = available_threads()
    if threads > most:
        raise typer.BadParameter(
            f"must be at most {most}, the threads there are; got {threads}.",
            param_hint="'--threads'",
        )
    os.environ["SIGMASTAR_THREADS"] = str(threads)


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
    best: Annotated[int, options.best("How many of the most frequent confusions.")] = 10,
    format: options.TaggedFormat = None,
    column: options.TagColumn = None,
    json: options.Json = False,
) -> None:
    """Compare a tagger's tags with the right ones.

    A pipeline gets the raw text of DATA, which is CoNLL-U: F1 of tokens,
    sentences, words, tags and lemmas, as the CoNLL shared tasks count them.

    [bold]Examples[/]
    sigmastar tagger evaluate hmm.sigma test.conllu --column xpos
    sigmastar tagger evaluate en.sigma test.conllu
    """
    from sigmastar.tagging.taggers.evaluation import evaluate_tagger

    tagger = load_tagger(model)
    if tagger.kind == "Pipeline":
        evaluate_text(tagger, data, json)
        return
    corpus = read_gold(data, format, column or reading_of(model).get("column", "upos"))
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


app.command()(tagger_make.rules)
