"""What a page shows of text taggers: tags and their order, the compiled machine, errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sigmastar.core.confusion import confusion
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.drawing.canvas import shorten
from sigmastar.drawing.charts import bars
from sigmastar.drawing.graph import Arc, draw_graph
from sigmastar.drawing.heatmap import heatmap
from sigmastar.drawing.markup import Markup, element, join
from sigmastar.show.report.labels import confusion_cards, percent
from sigmastar.show.report.learning import learning_cards
from sigmastar.show.report.page import Section, card, scrolling, table
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.fst.sequential import SequentialTransducer
from sigmastar.tagging.lexicon.marks import split_mark
from sigmastar.tagging.model import SCORE_UNIT, TagModel
from sigmastar.tagging.taggers.evaluation import evaluate_tagger
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.hmm import HMMTaggerModel
from sigmastar.tagging.taggers.lemmatizer import Lemmatizer
from sigmastar.tagging.taggers.pipeline import Pipeline
from sigmastar.tagging.taggers.sentences import tags_of, words_of
from sigmastar.tagging.taggers.tokenizer import Tokenizer

__all__ = [
    "lemma_sections",
    "pipeline_sections",
    "tagged_sentence",
    "tagger_sections",
    "tokenizer_sections",
]

_MOST_TAGS = 24
_MOST_STATES = 14
_SENTENCES = 8
_RULES = 200
_TEXT = "Mr. Smith doesn't know. He's asked (twice!) about the $9.99 offer at www.example.com..."


def tagger_sections(
    tagger: HMMTaggerModel | FSTTagger, history: Mapping[str, Any], data: PairCorpus | None
) -> list[Section]:
    """Return the sections of a tagger's page."""
    tested: list[Section] = []
    if data is not None:
        sentences = words_of(data)
        given = [[split_mark(tag)[0] for tag in tags] for tags in tagger.predict(sentences)]
        tested = [
            Section("Test", _test(tagger, data, given)),
            Section("Examples", _examples(sentences, data, given)),
        ]
    return [
        Section("Machine", _machine(tagger)),
        *tested,
        Section("Learning", learning_cards(history)),
    ]


def lemma_sections(model: Lemmatizer, history: Mapping[str, Any]) -> list[Section]:
    """Return the sections of a lemmatizer's page: its most general edits, and exceptions."""
    cards = []
    for title, rules in (("Endings", model.endings), ("Exceptions", model.words)):
        first = sorted(rules.items(), key=lambda rule: (len(rule[0][1]), rule[0]))[:_RULES]
        rows = [(tag or "any other", text, str(cut), add) for (tag, text), (_, cut, add) in first]
        columns = ("tag", "ending" if title == "Endings" else "word", "letters cut", "added")
        cards.append(card(title, table(columns, rows, left=2)))
    return [Section("Edits", cards), Section("Learning", learning_cards(history))]


def tokenizer_sections(model: Tokenizer, history: Mapping[str, Any]) -> list[Section]:
    """Return the sections of a tokenizer's page: an example, and tokens of several words."""
    cut = model.annotate(_TEXT)
    rows = [
        (str(number), " ".join(f"[{cut.form(token)}]" for token in sentence))
        for number, sentence in enumerate(cut.sentences, 1)
    ]
    cards = [card("An example", table(("sentence", "tokens"), rows, left=2), wide=True)]
    for title, rules in (
        ("Endings of several words", model.expansions.endings),
        ("Tokens of several words", model.expansions.tokens),
    ):
        shown = [(text, edit) for text, edit in sorted(rules.items()) if edit.words][:_RULES]
        words = [(text, str(e.cut), e.add, " ".join(e.words)) for text, e in shown]
        if words:
            columns = ("token", "letters cut", "added", "words after it")
            cards.append(card(title, table(columns, words, left=1)))
    return [Section("Tokens", cards), Section("Learning", learning_cards(history))]


def pipeline_sections(
    model: Pipeline, history: Mapping[str, Any], data: PairCorpus | None
) -> list[Section]:
    """Return the sections of a pipeline's page: those of its parts."""
    sections = [s for s in tokenizer_sections(model.tokenizer, {}) if s.cards]
    for column, tagger in model.taggers.items():
        tested = data if len(model.taggers) == 1 else None
        for section in tagger_sections(tagger, {}, tested):  # type: ignore[arg-type]
            sections.append(Section(f"{section.title}: {column.upper()}", section.cards))
    if model.lemmatizer is not None:
        sections += lemma_sections(model.lemmatizer, {})
    return [*sections, Section("Learning", learning_cards(history))]


def _machine(tagger: HMMTaggerModel | FSTTagger) -> list[Markup]:
    if isinstance(tagger, HMMTaggerModel):
        return _tag_cards(tagger)
    if isinstance(tagger.machine, LazyTransducer):
        return _tag_cards(tagger.machine.model)
    return _transducer_cards(tagger.machine)


def _tag_cards(model: TagModel) -> list[Markup]:
    """Show which tag follows which, and how ambiguous words are."""
    n = model.n_tags
    follow = np.exp((model.bigram - model.bigram.max(axis=1, keepdims=True)) / SCORE_UNIT)
    follow /= follow.sum(axis=1, keepdims=True)
    # The last row and column stand for the edge of a sentence: one more node of the graph.
    names = [*model.tags, "EDGE"]
    share = np.full(n + 1, 1.0 / (n + 1))
    for _ in range(60):
        share = share @ follow
    order = np.argsort(-share, kind="stable")
    busy = order[:_MOST_STATES]
    arcs = [
        Arc(i, int(j), float(follow[a, busy[j]]), f"{100 * follow[a, busy[j]]:.0f}%")
        for i, a in enumerate(busy)
        for j in np.argsort(-follow[a, busy], kind="stable")[:3]
        if follow[a, busy[j]] > 0.04
    ]
    edge = (busy == n).astype(float)
    picture = draw_graph(
        [names[a] for a in busy],
        arcs,
        visits=share[busy],
        start=edge,
        stop=np.zeros(len(busy)),
        title="tags and what follows them",
    )
    many = order[:_MOST_TAGS]
    heat = heatmap(
        follow[np.ix_(many, many)],
        [names[a] for a in many],
        [names[a] for a in many],
        title="tag transitions",
        row_title="tag",
        column_title="next tag",
    )
    sizes = np.bincount(np.diff(model.offsets))
    counts = [(k, int(c)) for k, c in enumerate(sizes) if c][:10]
    return [
        card(
            "What follows what",
            picture,
            note="The commonest tags and their likeliest successors; EDGE is where a sentence "
            "begins and ends.",
            wide=True,
        ),
        card("Tag transitions", scrolling(heat), note="From the row's tag to the column's."),
        card(
            "How ambiguous words are",
            bars(
                [f"{k} tag" + ("s" if k > 1 else "") for k, _ in counts],
                [float(c) for _, c in counts],
                title="classes of words by the number of their candidate tags",
                told=[f"{c:,}" for _, c in counts],
            ),
            note="Classes of words by the number of their candidate tags.",
        ),
    ]


def _transducer_cards(machine: SequentialTransducer) -> list[Markup]:
    """Show the busiest states of a compiled machine, and some of its arcs."""
    following, written = machine.next_states, machine.outputs
    there = following >= 0
    degree = there.sum(axis=1)
    # A machine may have very many states: no matrix of all pairs.
    shares = np.repeat(1.0 / np.maximum(degree, 1), degree)
    visits = np.bincount(following[there], shares, machine.n_states) + 1e-9
    visits[0] += 1.0
    busy = np.unique(np.append(np.argsort(-visits, kind="stable")[: _MOST_STATES - 1], 0))
    arcs = []
    for i, a in enumerate(busy):
        moves = (following[a] == busy[:, None]).sum(axis=1) / max(int(degree[a]), 1)
        for j in np.argsort(-moves, kind="stable")[:2]:
            if moves[j] > 0.03:
                read = int(np.argmax(following[a] == busy[j]))
                output = "·".join(
                    machine.output_symbols[s] for s in machine.string(int(written[a, read]))
                )
                arcs.append(Arc(i, int(j), float(moves[j]), shorten(output, 16) or "ε"))
    start = np.zeros(len(busy))
    start[int(np.flatnonzero(busy == 0)[0])] = 1.0
    picture = draw_graph(
        [str(a) for a in busy],
        arcs,
        visits=visits[busy],
        start=start,
        stop=(machine.final[busy] >= 0).astype(float),
        title="the compiled machine",
    )
    places = np.flatnonzero(there)
    sample = [
        divmod(int(place), machine.n_inputs) for place in places[:: max(len(places) // 14, 1)][:14]
    ]
    table_rows = [
        (
            str(a),
            machine.inputs[c],
            " ".join(machine.output_symbols[s] for s in machine.string(int(written[a, c]))) or "ε",
            str(following[a, c]),
        )
        for a, c in sample
    ]
    return [
        card(
            "The compiled machine",
            picture,
            note=f"{machine.n_states:,} states and {machine.n_arcs:,} arcs; the states that most "
            "arcs lead to, and one output of each arc. No search happens at run time: one "
            "look-up a word.",
            wide=True,
        ),
        card(
            "Some arcs",
            table(("state", "reads", "writes", "next"), table_rows, left=3),
            note="Every so many arcs of the machine.",
            wide=True,
        ),
    ]


def _test(
    tagger: HMMTaggerModel | FSTTagger, data: PairCorpus, given: list[list[str]]
) -> list[Markup]:
    figures = evaluate_tagger(tagger, data)
    rows = [
        ("words", f"{figures['n_words']:,}", percent(figures["accuracy"])),
        ("known words", f"{figures['n_known']:,}", percent(figures["known_accuracy"])),
        ("unknown words", f"{figures['n_unknown']:,}", percent(figures["unknown_accuracy"])),
        ("whole sentences", f"{figures['n_sentences']:,}", percent(figures["sentence_accuracy"])),
    ]
    guessed = [tag for sentence in given for tag in sentence]
    return [
        card("How well it does", table(("", "number", "right"), rows)),
        *confusion_cards(confusion(tags_of(data), guessed)),
    ]


def _examples(sentences: list[list[str]], data: PairCorpus, given: list[list[str]]) -> list[Markup]:
    """Show sentences with errors first: they tell most."""
    truth = [[str(tag) for tag in sentence] for sentence in data.target]
    wrong = [g != t for g, t in zip(given, truth, strict=True)]
    first = {tuple(words): i for i, words in reversed(list(enumerate(sentences)))}
    short = sorted(i for words, i in first.items() if 3 <= len(words) <= 30)
    half = [i for i in short if wrong[i]][: _SENTENCES // 2]
    fine = [i for i in short if not wrong[i]][: _SENTENCES - len(half)]
    lines = [tagged_sentence(sentences[i], given[i], truth[i]) for i in [*half, *fine]]
    if not lines:
        return []
    note = "Given tags under the words; where they are wrong, the right one stands behind."
    return [card("Tagged sentences", join(*lines), note=note, wide=True)]


def tagged_sentence(
    words: Sequence[str], given: Sequence[str], right: Sequence[str] | None = None
) -> Markup:
    """Write a sentence with its tags below, errors marked."""
    truth = given if right is None else right
    return element(
        "p",
        *(
            element(
                "span",
                word,
                element("i", tag if tag == true else f"{tag} → {true}"),
                class_="word" if tag == true else "word wrong",
            )
            for word, tag, true in zip(words, given, truth, strict=True)
        ),
        class_="sentence",
    )
