"""Reports of every kind of model, small enough to be made in seconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import sigmastar as ss
from sigmastar.corpus.frames import FrameTable

HOSTILE = "<script>document.title='taken'</script>"

SENTENCES = [
    ("the/DET dog/NOUN runs/VERB ./PUNCT"),
    ("a/DET run/NOUN is/AUX fun/ADJ ./PUNCT"),
    ("dogs/NOUN run/VERB fast/ADV ./PUNCT"),
    ("the/DET fast/ADJ dog/NOUN barks/VERB ./PUNCT"),
]


def tagged() -> ss.PairCorpus:
    pairs = []
    for line in SENTENCES:
        words, tags = zip(*(token.rsplit("/", 1) for token in line.split()), strict=True)
        pairs.append((words, tags))
    return ss.PairCorpus.from_pairs(pairs * 12)


def names() -> ss.PairCorpus:
    table = str.maketrans("abdnromi", "абднроми")
    words = ["anna", "dora", "nina", "roman", "mira", "adam", "nora", "brian", "dina", "rida"]
    return ss.PairCorpus.from_pairs([(word, word.translate(table)) for word in words * 6])


def frames() -> FrameTable:
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 3, 60), 10)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    readings = centres[labels] + 0.4 * rng.standard_normal((len(labels), 2))
    named = [("left", "right", "straight")[label] for label in labels]
    return FrameTable(readings, np.arange(0, 601, 100), named)


def write_all(folder: Path) -> dict[str, Path]:
    """Write one page for each kind of model; return their paths."""
    problem = ss.datasets.make_problem(
        "pfa", n_states=5, n_symbols=4, n_train=800, n_test=50, random_state=1
    )
    words = tagged()
    pairs = names()
    stream = frames()
    hmm = ss.HMMTagger().fit(words)
    sets = ss.HMMTagger(1, classes="sets").fit(words)
    sensors = ss.SpectralSequenceTagger(
        n_states=2, features=ss.CentroidFeatures(8, random_state=0), random_state=0
    ).fit(stream.frames, stream.labels, lengths=stream.lengths)
    letters = [("abcab", "xyzxy"), ("cabba", "zxyyx")] * 20
    hostile = ss.BaumWelchPFA(2, max_iter=5, random_state=0).fit([[HOSTILE, "b&<"], ["b&<"]] * 9)
    what = {
        "spectral": (ss.SpectralWFA().fit(problem.train), problem.test),
        "em": (ss.BaumWelchPFA(5, max_iter=20, random_state=0).fit(problem.train), problem.test),
        "hmm": (ss.BaumWelchHMM(3, max_iter=10, random_state=0).fit(problem.train), None),
        "ngram": (ss.KneserNey(3).fit(problem.train), problem.test),
        "tagger": (hmm, words),
        "fst": (ss.FSTTagger.from_hmm(sets, "n1"), words),
        "names": (ss.Transliterator(method="em").fit(pairs), pairs),
        "transducer": (ss.SpectralTransducer(2).fit(letters), ss.PairCorpus.from_pairs(letters)),
        "sensors": (sensors, stream),
        "hostile": (hostile, [[HOSTILE]]),
    }
    paths = {}
    for name, (model, data) in what.items():
        paths[name] = folder / f"{name}.html"
        ss.write_report(model, paths[name], data=data)
    return paths
