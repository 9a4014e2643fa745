"""``sigmastar tagger train``, ``compile`` and ``rules``: what makes taggers."""

from __future__ import annotations

import time
from itertools import chain
from typing import Annotated

import typer

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import expect, read_lines, reading_of, remember
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, emit_lines, show_saved, wrote
from sigmastar.cli.tagger_parts import (
    TaggedArgument,
    TrainedArgument,
    load_trained,
    read_gold,
    read_raw,
    read_sentences,
)
from sigmastar.core.progress import stage

__all__ = ["compile_", "lemmas", "rules", "train"]


def train(
    data: TaggedArgument,
    output: options.ModelOutput,
    order: Annotated[
        int, option("--order", "Tags back that transitions look.", "N", min=1, max=2)
    ] = 2,
    classes: Annotated[
        str, choice("--classes", choices.TAGGER_CLASSES, "What words are taken for")
    ] = "words",
    lexical: Annotated[
        int,
        option(
            "--lexical",
            "With sets: frequent ambiguous words with a class of their own.",
            "N",
            min=0,
        ),
    ] = 0,
    max_classes: Annotated[
        int | None,
        option("--max-classes", "With sets: the most ambiguous classes to keep.", "N", min=1),
    ] = None,
    smoothing: Annotated[
        str, choice("--smoothing", choices.SMOOTHING, "How rare tag sequences are estimated")
    ] = "witten-bell",
    threshold: Annotated[
        float | None,
        option(
            "--threshold",
            "Share of the best tag's probability that a candidate needs; 0.02, discriminative: "
            "0.001.",
            "X",
        ),
    ] = None,
    training: Annotated[
        str, choice("--training", choices.TAGGER_TRAINING, "Where the scores come from")
    ] = "counts",
    passes: Annotated[
        int, option("--passes", "discriminative: times to go through the data.", "N", min=1)
    ] = 6,
    models: Annotated[
        int, option("--models", "discriminative: models to take the mean of.", "N", min=1)
    ] = 1,
    raw: Annotated[
        str | None,
        option("--raw", "discriminative: text of the language that helps, not cut.", "FILE"),
    ] = None,
    finer: Annotated[
        str | None,
        choice("--finer", choices.COLUMNS, "Other tags, to tell words apart inside", "COLUMN"),
    ] = None,
    untagged: Annotated[
        str | None,
        option(
            "--untagged",
            "Text, one sentence a line: learn from it by Baum-Welch, and take only "
            "the lexicon from DATA.",
            "FILE",
        ),
    ] = None,
    format: options.TaggedFormat = None,
    column: options.Column = "upos",
    json: options.Json = False,
) -> None:
    """Train an HMM tagger from tagged sentences.

    Discriminative training may have the help of plain text (--raw text.txt)
    and of the other column of tags (--finer upos).

    [bold]Examples[/]
    sigmastar tagger train train.conllu -o hmm.sigma --column xpos
    sigmastar tagger train train.conllu -o crf.sigma --training discriminative
    sigmastar tagger train brown.txt -o sets.sigma --order 1 --classes sets
    """
    expect(data, raw, untagged)
    from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
    from sigmastar.tagging.lexicon.counts import Lexicon
    from sigmastar.tagging.taggers.tokenizer import Tokenizer

    corpus = read_gold(data, format, column)
    tagger = HMMTagger(
        order,
        classes="sets" if untagged else classes,
        n_lexical=lexical,
        max_classes=max_classes,
        smoothing=smoothing,
        threshold=threshold,
        training=training,
        n_passes=passes,
        n_models=models,
    )
    began = time.perf_counter()
    with stage("Training"):
        if untagged is None:
            cut = Tokenizer.default()
            told = None if raw is None else chain.from_iterable(map(cut.tokenize, read_raw(raw)))
            other = None if finer is None else read_gold(data, format, finer)
            tagger.fit(corpus, raw=told, finer=other)
        else:
            tagger.fit(read_sentences(untagged), lexicon=Lexicon.from_tagged(corpus))
    seconds = time.perf_counter() - began
    remember(tagger, column=column)
    tagger.save(output)
    model = tagger.model_
    summary = {
        "sentences": len(corpus),
        "tags": model.n_tags,
        "classes": model.n_classes,
        "ambiguous_classes": int(model.is_ambiguous.sum()),
    }
    facts = {**(tagger.info_ if json else summary), "seconds": seconds}
    show_saved("Trained a tagger", facts, output, json=json)


def compile_(
    model: TrainedArgument,
    output: options.ModelOutput,
    kind: Annotated[str, choice("--kind", choices.MACHINE_KINDS, "What to build", "KIND")] = "lazy",
    corpus: Annotated[
        str | None,
        option(
            "--corpus", "Untagged text, one sentence a line: subsequences and agreement.", "FILE"
        ),
    ] = None,
    min_count: Annotated[
        int, option("--min-count", "s…: how often a subsequence must occur.", "N")
    ] = 1,
    max_length: Annotated[
        int | None,
        option("--max-length", "s…: all subsequences of so many classes at most.", "N"),
    ] = None,
    look_ahead: Annotated[
        int, option("--look-ahead", "b: decide a tag so many words later.", "N")
    ] = 2,
    rules: Annotated[
        str | None, option("--rules", "Correction rules to compose (see: tagger rules).", "FILE")
    ] = None,
    phrases: Annotated[bool, option("--phrases", "Mark noun phrases as well.")] = False,
    pattern: Annotated[
        str | None,
        option("--pattern", "With --phrases: the phrase, as a pattern over tags.", "TEXT"),
    ] = None,
    json: options.Json = False,
) -> None:
    """Compile a tagger into a transducer.

    [bold]Examples[/]
    sigmastar tagger compile hmm.sigma -o fst.sigma --rules rules.txt --phrases
    sigmastar tagger compile sets.sigma -o s.sigma --kind s+n1 --corpus text.txt
    """
    from sigmastar.tagging.fst.rules import RuleSet
    from sigmastar.tagging.taggers.fst_tagger import FSTTagger

    hmm = load_trained(model)
    text = read_sentences(corpus) if corpus else None
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
            tagger = tagger.with_rules(RuleSet.from_text(written, tagger.tags, rules), corpus=text)
        if phrases or pattern:
            tagger = tagger.with_phrases(pattern)
    tagger.save(output, history={"reading": reading_of(model)})
    show_saved("Compiled a tagger", tagger.info, output, json=json)


def rules(
    model: TrainedArgument,
    data: TaggedArgument,
    output: options.TextOutput = "-",
    max_rules: Annotated[int, option("--max-rules", "How many rules to learn at most.", "N")] = 60,
    min_gain: Annotated[
        int, option("--min-gain", "Errors that a rule must correct more than it makes.", "N")
    ] = 8,
    tags_only: Annotated[bool, option("--tags-only", "No words in contexts.")] = False,
    folds: Annotated[
        int, option("--folds", "Parts of the data, each tagged from the others.", "N")
    ] = 5,
    format: options.TaggedFormat = None,
    column: options.TagColumn = None,
    json: options.Json = False,
) -> None:
    """Learn correction rules from a tagger's errors on its training data.

    The data are tagged fold by fold, each by a tagger with the settings of MODEL
    trained on the other folds. The rules are text, one a line, and may be edited
    or written by hand:

      that/IN -> WDT / NN _ VBZ     (word/TAG -> TAG / tags before _ after)

    [bold]Example[/]
    sigmastar tagger rules hmm.sigma train.conllu -o rules.txt --folds 2
    """
    from sigmastar.tagging.learn.brill import held_out_tags, learn_rules

    hmm = load_trained(model)
    corpus = read_gold(data, format, column or reading_of(model).get("column", "upos"))
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


def lemmas(
    data: Annotated[str, typer.Argument(help="CoNLL-U with tags and lemmas.", metavar="DATA")],
    output: options.ModelOutput,
    column: options.Column = "upos",
    json: options.Json = False,
) -> None:
    """Learn lemmas: edits of endings by tag, and exceptions.

    Use the tags that the tagger gives (--column), and pass the file to
    tag --lemmas.

    [bold]Example[/]
    sigmastar tagger lemmas train.conllu -o lemmas.sigma --column xpos
    """
    from sigmastar.tagging.learn.lemmas import train_lemmas

    if data == "-":
        raise typer.BadParameter("must be a file: it is read twice.", param_hint="DATA")
    tagged, right = (read_gold(data, "conllu", name) for name in (column, "lemma"))
    began = time.perf_counter()
    with stage("Learning lemmas"):
        learned = train_lemmas(tagged, right)
    learned.model.save(output)
    facts = {**learned.info, "seconds": time.perf_counter() - began}
    show_saved("Learned lemmas", facts, output, json=json)
