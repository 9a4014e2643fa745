"""``sigmastar tagger`` on raw text: tokenizers, pipelines, tagging and evaluating with them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import announce_stdin, expect, load_kind
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, note, show_saved, show_table, tell_rate, writing
from sigmastar.cli.tagger_parts import read_raw
from sigmastar.core.progress import stage

if TYPE_CHECKING:
    from sigmastar.tagging.taggers.pipeline import Pipeline

__all__ = ["evaluate_text", "pipeline", "pipeline_of", "tag_text", "tell_uncut", "tokens"]

_SIGNS = frozenset(",;:!?.")
TreebankArgument = Annotated[
    str,
    typer.Argument(help="CoNLL-U with SpaceAfter=No where no blank follows.", metavar="DATA"),
]


def tokens(
    data: TreebankArgument,
    output: options.ModelOutput,
    passes: Annotated[int, option("--passes", "Times to go through the text.", "N", min=1)] = 6,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Learn to cut raw text into sentences, tokens and words.

    [bold]Example[/]
    sigmastar tagger tokens train.conllu -o tokens.sigma
    """
    from sigmastar.corpus.readers.treebank import read_treebank
    from sigmastar.tagging.learn.tokens import train_tokens

    announce_stdin(data)
    treebank = read_treebank(data)
    began = time.perf_counter()
    learned = train_tokens(treebank, n_passes=passes, random_state=seed)
    learned.model.save(output, history=learned.info)
    facts = {k: v for k, v in learned.info.items() if json or k != "loss"}
    facts["seconds"] = time.perf_counter() - began
    show_saved("Learned to cut text", facts, output, json=json)


def pipeline(
    data: TreebankArgument,
    output: options.ModelOutput,
    column: Annotated[
        list[str] | None,
        choice("--column", ("upos", "xpos"), "Tags to learn; both by default", many=True),
    ] = None,
    training: Annotated[
        str, choice("--training", choices.TAGGER_TRAINING, "Where the taggers' scores come from")
    ] = "discriminative",
    raw: Annotated[
        str | None,
        option("--raw", "discriminative: more text of the language, not cut.", "FILE"),
    ] = None,
    lemmas: Annotated[bool, option("--lemmas/--no-lemmas", "Learn lemmas as well.")] = True,
    json: options.Json = False,
) -> None:
    """Learn all that leads from raw text to tags and lemmas: one model, one file.

    [bold]Examples[/]
    sigmastar tagger pipeline train.conllu -o en.sigma
    sigmastar tagger pipeline train.conllu -o en.sigma --training counts
    """
    expect(data, raw)
    from sigmastar.corpus.readers.treebank import read_treebank
    from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
    from sigmastar.tagging.estimators.pipeline import learn_pipeline
    from sigmastar.tagging.taggers.pipeline import COLUMNS

    announce_stdin(data)
    treebank = read_treebank(data)
    began = time.perf_counter()
    with stage("Learning a pipeline"):
        learned = learn_pipeline(
            treebank,
            columns=column or COLUMNS,
            tagger=HMMTagger(training=training),
            lemmas=lemmas,
            raw=None if raw is None else read_raw(raw),
        )
    learned.save(output)
    facts = {**learned.facts(), "seconds": time.perf_counter() - began}
    show_saved("Learned a pipeline", facts, output, json=json)


def pipeline_of(
    tagger: Any, tokenizer: Path | None, lemmatizer: Any, column: str | None
) -> Pipeline:
    """Return a pipeline as it is; put one together around a tagger."""
    from sigmastar.core.errors import InvalidParameter
    from sigmastar.tagging.taggers.pipeline import Pipeline
    from sigmastar.tagging.taggers.tokenizer import Tokenizer

    if tagger.kind == "Pipeline":
        if tokenizer is not None or lemmatizer is not None:
            raise InvalidParameter(
                "--tokens and --lemmas are for taggers alone; this model is a pipeline, which has "
                "its own."
            )
        return tagger  # type: ignore[no-any-return]
    cutting = Tokenizer.default()
    if tokenizer is not None:
        maker = "sigmastar tagger tokens"
        cutting = load_kind(tokenizer, ("Tokenizer",), "a tokenizer", maker)
    return Pipeline(cutting, {column or "upos": tagger}, lemmatizer)


def tell_uncut(head: bytes) -> None:
    """Say that text seems not to be cut into tokens: more signs are part of words than alone."""
    alone, glued = 0, []
    for line in head.decode("utf-8", "replace").splitlines()[:200]:
        words = line.split()
        alone += sum(word in _SIGNS for word in words)
        for left, word in zip(range(len(words), 0, -1), words, strict=True):
            # Before the end of a line a point may belong to an abbreviation.
            signs = ",;:!?." if left == 1 else ",;:!?"
            if len(word) > 2 and word[-1] in signs and word[-2].isalpha():
                glued.append(word)
    if len(glued) > alone:
        note(
            f"the text seems not to be cut into tokens: {glued[0]!r} is tagged as one word. "
            "--raw cuts it."
        )


def tag_text(model: Pipeline, text: str, output: str, to: str, json: bool) -> None:
    """Tag raw text."""
    from sigmastar.corpus.readers.source import Source

    announce_stdin(text)
    began = time.perf_counter()
    with Source(text) as source:
        if json:
            from sigmastar.tagging.text.raw import paragraphs

            found = (model(part) for part in paragraphs(source))
            emit_json(
                [
                    [
                        {
                            "form": word.form,
                            "upos": word.upos,
                            "xpos": word.xpos,
                            "lemma": word.lemma,
                        }
                        for word in words
                    ]
                    for part in found
                    for words in part.words()
                ],
                output,
            )
            return
        with writing(output) as target:
            n_sentences, n_words = model.tag_file(source, target, output_format=to)
    if output != "-":
        tell_rate(n_words, n_sentences, time.perf_counter() - began, output)


def evaluate_text(model: Pipeline, data: str, json: bool) -> None:
    """Compare what a pipeline finds in the text of a treebank with what the treebank says."""
    from sigmastar.corpus.readers.treebank import read_treebank
    from sigmastar.metrics import text_scores

    gold = read_treebank(data)
    with stage(f"Tagging {len(gold):,} sentences"):
        scores = text_scores(gold, model(gold.text))
    if json:
        emit_json(scores)
        return
    rows = [(name, f"{value:.2%}") for name, value in scores.items()]
    show_table(f"Raw text of {data}", ("", "F1"), rows)
