"""The tables and figures of *Finite State Transducers Approximating Hidden Markov Models*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sigmastar.bench import tagging as bench
from sigmastar.bench import tagging_rules
from sigmastar.bench.papers.exhibit import Cell, Exhibit, Settings, Shown
from sigmastar.bench.papers.published_tagging import FIGURE_2, LANGUAGES, MACHINES
from sigmastar.drawing.charts import bars, lines
from sigmastar.drawing.graph import Arc, draw_graph
from sigmastar.tagging.fst.ntype import n_type
from sigmastar.tagging.model import NO_TRIGRAM, TagModel, class_names, fixed_point
from sigmastar.tagging.taggers.fst_tagger import FSTTagger

__all__ = ["EXHIBITS"]

PAPER = "Finite State Transducers Approximating Hidden Markov Models"
OTHER_DATA = (
    "The corpora of the paper are not public. Order and gaps can be compared, values cannot: "
    "corpora, tag sets, lexicons and guessers are others."
)


def _figure_1(settings: Settings) -> Shown:
    """Build the n1-type of the figure's three classes, and draw it."""
    sets = ((0, 1), (1, 2, 3), (4,))  # t12 of the first class is t21 of the second, as may be
    names = ("t11", "t12", "t22", "t23", "t31")
    rng = np.random.default_rng(settings.seed)
    offsets = np.concatenate(([0], np.cumsum([len(tags) for tags in sets])))
    model = TagModel(
        tags=names,
        bigram=fixed_point(np.log(rng.dirichlet(np.ones(6), 6))),
        trigram=NO_TRIGRAM,
        offsets=offsets,
        candidates=np.concatenate([np.array(tags) for tags in sets]),
        scores=fixed_point(np.log(rng.uniform(0.2, 1, offsets[-1]))),
        context_rows=np.full(len(sets), -1),
        context=np.zeros((0, 6), np.int32),
    )
    machine = n_type(model, 1)
    rows: list[Mapping[str, Cell]] = []
    arcs: dict[tuple[int, int], list[str]] = {}
    for state in range(machine.n_states):
        for code, name in enumerate(("c1", "c2", "c3")):
            target = int(machine.next_states[state, code])
            tag = names[machine.string(int(machine.outputs[state, code]))[0]]
            rows.append({"state": state, "class": name, "writes": tag, "next state": target})
            arcs.setdefault((state, target), []).append(f"{name}:{tag}")
    picture = draw_graph(
        [str(state) for state in range(machine.n_states)],
        [Arc(a, b, 1.0, " ".join(labels)) for (a, b), labels in arcs.items()],
        visits=np.ones(machine.n_states),
        start=np.eye(machine.n_states)[0],
        stop=np.ones(machine.n_states),
        title="n1-type transducer of three classes",
        framed=False,
    )
    notes = (
        "The figure shows the construction on three classes without probabilities; these here are "
        "drawn at random. One tag belongs to two classes, as the text allows.",
        "The paper has a state for each pair of class and tag before it minimises; pairs with the "
        "same tag have the same future, and are one state here from the start.",
    )
    return Shown(rows, (str(picture),), notes)


def _figure_2(settings: Settings) -> Shown:
    """Tag the sentence of the figure."""
    task = bench.demo_task() if settings.quick else bench.brown_task(settings.data)
    hmm = task.tagger()
    tagger = FSTTagger.from_hmm(hmm, "n1" if settings.quick else "lazy")
    words = [word for word, _, _ in FIGURE_2]
    codes, _ = tagger.to_classes([words])
    tags = tagger.predict([words])[0]
    classes = class_names(hmm.model_)
    rows: list[Mapping[str, Cell]] = [
        {
            "word": word,
            "class published": old_class,
            "class": classes[code],
            "tag published": old_tag,
            "tag": tag,
        }
        for (word, old_class, old_tag), code, tag in zip(FIGURE_2, codes, tags, strict=True)
    ]
    notes = (
        "Tags of the Brown corpus, as in the figure, but for those of its lexicon: it has a tag of "
        "its own for the end of a sentence. The same tags, numbered, are another class.",
    )
    return Shown(rows, notes=notes)


def _table_1(settings: Settings) -> Shown:
    task = bench.demo_task(120) if settings.quick else bench.brown_task(settings.data)
    gain = 1 if settings.quick else 8
    if not settings.quick:
        bench.compile_machines()
    found = list(bench.machines(task, long=not settings.quick, min_gain=gain))
    rows: list[Mapping[str, Cell]] = []
    for row in found:
        old = MACHINES.get(row.name)
        rows.append(
            {
                "machine": row.name,
                "accuracy % published": old and old.accuracy,
                "accuracy %": 100 * row.accuracy,
                "as its HMM %": None if row.agreement is None else 100 * row.agreement,
                "words/s published": old and old.words_per_second,
                "words/s": row.tokens_per_second,
                "states published": old and old.n_states,
                "states": row.n_states,
                "arcs published": old and old.n_arcs,
                "arcs": row.n_arcs,
                "seconds published": old and old.seconds,
                "seconds": row.build_seconds,
            }
        )
    sized = [row for row in found if row.name.startswith("s+n1") and row.name in MACHINES]
    sized.sort(key=lambda row: row.n_states or 0)
    paper = sorted((MACHINES[row.name].n_states or 0, MACHINES[row.name].accuracy) for row in sized)
    picture = lines(
        {
            "ours": ([row.n_states or 0 for row in sized], [100 * row.accuracy for row in sized]),
            "published": ([size for size, _ in paper], [accuracy for _, accuracy in paper]),
        },
        title="Accuracy of s+n1 by the number of states",
        x_title="states",
        y_title="accuracy %",
        log_x=True,
    )
    notes = (
        OTHER_DATA,
        "The paper: 19,944 words of English for the probabilities, 19,934 to test, 74 tags and 297 "
        "classes. Here: Brown with 104 tags, 20,000 words for the probabilities, lexicon and "
        "untagged text from 90 % of it; every tenth sentence is for testing. 1M is all of those "
        "90 %; arcs of n0 are as many as classes.",
        "The paper's speeds are of an ultra2 from text to text; ours are from classes to tags on "
        "one core. Machines that grow (b, lazy, and rules or phrases that are composed) grow on "
        "100,000 words of the training part and are timed on their first pass over the test part, "
        "new arcs included; their states and arcs are those after growing.",
        "The rows from s+n0 on are not in the paper: kinds that it names without figures, its "
        "composition with learned rules and with the marking of phrases as one transducer, and "
        "training on untagged text. n2, s+n2 and their agreement go with the HMM of order 2. s+n2 "
        "knows one tag after a barrier, where n2 would know two.",
        "Rules are learned on 100,000 words of the training part of which the probabilities know "
        "a fifth at most.",
        "Seconds of the first machine of a kind hold the compiling of its kernels if they were "
        "never used before, as here.",
    )
    return Shown(rows, (str(picture),), notes)


def _table_2(settings: Settings) -> Shown:
    given = [bench.demo_task(120)] if settings.quick else bench.six_languages(settings.data)
    tasks = list(given)
    found: dict[str, dict[str, float]] = {}
    corpora: list[str] = []
    for name, row in bench.languages(tasks):
        found.setdefault(row.name, {})[name] = 100 * row.accuracy
        corpora = list(dict.fromkeys([*corpora, name]))
    rows: list[Mapping[str, Cell]] = []
    for machine, accuracies in found.items():
        cells: dict[str, Cell] = {"machine": machine}
        for corpus in corpora:
            old = LANGUAGES.get(corpus.partition(" (")[0])
            cells[f"{corpus}, published"] = old and old.accuracy.get(machine)
            cells[corpus] = accuracies[corpus]
        rows.append(cells)
    rows += _language_sizes(tasks)
    shown = ("n0", "n1", "s+n1 100K F1", "HMM")
    pictures = tuple(
        str(
            bars(
                list(shown),
                [found[kind][corpus] / 100 for kind in shown],
                title=f"{corpus}: accuracy",
            )
        )
        for corpus in corpora
    )
    notes = (
        OTHER_DATA,
        "English has two columns: Brown with 104 tags, and EWT. All others have the 12 to 17 "
        "universal tags; the paper's tag sets have 45 to 74.",
        "20,000 words of the training part give the probabilities. Of Dutch, Portuguese and "
        "Spanish only parts for development and testing are at hand: the former (28,000 to 37,000 "
        "words) are trained on, and are all the text there is where the paper has 50,000 and "
        "100,000 words. French has 50,000 words.",
    )
    return Shown(rows, pictures, notes)


def _language_sizes(tasks: Sequence[bench.Task]) -> list[dict[str, Cell]]:
    """Give the last rows of Table 2: how much was trained and tested on, tags and classes."""
    rows: dict[str, dict[str, Cell]] = {}
    for task in tasks:
        old = LANGUAGES.get(task.name.partition(" (")[0])
        published = (None,) * 4 if old is None else old[1:]
        for (name, size), theirs in zip(task.sizes().items(), published, strict=True):
            row = rows.setdefault(name, {"machine": name})
            row[f"{task.name}, published"] = theirs
            row[task.name] = size
    return list(rows.values())


def _composition(settings: Settings) -> Shown:
    if settings.quick:
        found = list(tagging_rules.compositions([bench.demo_task(120)], min_gain=2))
    else:
        english = (t for t in tagging_rules.tagged_english(settings.data) if t.name != "EWT UPOS")
        found = list(tagging_rules.compositions(english))
    rows: list[Mapping[str, Cell]] = [
        {
            "corpus": row.corpus,
            "rules": row.n_rules,
            "words named": row.n_named_words,
            "sentences": row.n_sentences,
            "tokens": row.n_tokens,
            "as rules run afterwards %": 100 * row.agreement,
            "states": row.n_states,
            "arcs": row.n_arcs,
            "seconds to build": row.build_seconds,
            "seconds to grow on the training part": row.grow_seconds,
            "words/s, known text": row.known_tokens_per_second,
            "the same, rules afterwards": row.known_cascade_tokens_per_second,
            "words/s, new text": row.new_tokens_per_second,
            "the same, rules run afterwards": row.new_cascade_tokens_per_second,
        }
        for row in found
    ]
    notes = (
        "The paper promises the composition with correction rules (sections 1 and 6) and prints no "
        "figures of it. Rules are learned from the errors of the second-order tagger on its "
        "training part, tagged in five folds; they name tags and words.",
        "Agreement is over every word of both parts. On new text a machine has grown on the "
        "training part and meets the test part for the first time: the median of twelve rounds "
        "with fresh machines, in which both ways grow first and come first equally often.",
    )
    return Shown(rows, notes=notes)


EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit(
        "tagging-figure-1",
        PAPER,
        "Figure 1: generation of an n1-type transducer",
        "sigmastar bench papers --only tagging-figure-1",
        0.1,
        _figure_1,
    ),
    Exhibit(
        "tagging-figure-2",
        PAPER,
        "Figure 2: tagging a sentence",
        "sigmastar bench papers --only tagging-figure-2",
        0.5,
        _figure_2,
        ("brown",),
    ),
    Exhibit(
        "tagging-table-1",
        PAPER,
        "Table 1: accuracy, speed, size and creation time of transducers",
        "sigmastar bench tagging --table 1 --long",
        8.0,
        _table_1,
        ("brown",),
    ),
    Exhibit(
        "tagging-table-2",
        PAPER,
        "Table 2: accuracy in six languages",
        "sigmastar bench tagging --table 2",
        2.0,
        _table_2,
        ("brown", "ud"),
    ),
    Exhibit(
        "tagging-composition",
        PAPER,
        "Sections 1 and 6: tagger and correction rules as one transducer",
        "sigmastar bench tagging --table composition",
        6.0,
        _composition,
        ("brown", "ud"),
    ),
)
