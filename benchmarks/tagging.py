"""Speed of tagging in one run: transducers, our Viterbi, and ways in and out.

Trains, and lets machines grow, on one half of the Brown corpus ($SIGMASTAR_DATA or --data DIR) and
tags the other half: cold, the first time, and warm, the best of several rounds after that, when
machines that grow have made all arcs of that half too. All figures are millions of tokens a second
on one core, by the processor's clock, so that other work on the machine disturbs them little. Long
files are tagged on all cores, by the wall clock: the half eight times over, known by now, and, with
--text FILE, a text that is met for the first time.
"""

import argparse
import os
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

import sigmastar as ss
from sigmastar.bench.tagging import brown_split
from timing import best_of


def best(function, n_tokens, rounds=5):
    spent = best_of(function, rounds, warm_up=True, clock=time.process_time)
    return n_tokens / spent / 1e6


def cold_and_warm(tagger, familiar, new):
    """Return the speed on new text the first time, and when it has been met."""
    tagger.tag_classes(*tagger.to_classes(familiar[:100]))  # compiled now, at the latest
    codes, starts = tagger.to_classes(new)
    began = time.process_time()
    tagger.tag_classes(codes, starts)
    first = len(codes) / (time.process_time() - began) / 1e6
    grow = getattr(getattr(tagger, "machine", None), "grow", None)
    if grow:  # else arcs are made when they were met several times
        grow(codes, starts)
    return first, best(partial(tagger.tag_classes, codes, starts), len(codes))


def files(tagger, source_path, target_path):
    """Return a function that tags a file."""

    def tag():
        with open(source_path, "rb") as source, open(target_path, "wb") as target:
            return tagger.tag_file(source, target)

    return tag


def on_all_cores(work):
    """Call a function with all threads; return what it says and the seconds on the wall."""
    one = os.environ.pop("SIGMASTAR_THREADS")
    began = time.perf_counter()
    said = work()
    spent = time.perf_counter() - began
    os.environ["SIGMASTAR_THREADS"] = one
    return said, spent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="directory with the data")
    parser.add_argument("--text", help="a file of text to tag for the first time")
    arguments = parser.parse_args()
    data = arguments.data
    os.environ["SIGMASTAR_THREADS"] = "1"
    whole, _ = brown_split(data, joined=False)
    half = len(whole.source) // 2
    train = ss.PairCorpus(whole.source[:half], whole.target[:half])
    familiar, sentences = (
        [[str(word) for word in sentence] for sentence in part]
        for part in (train.source, whole.source[half:])
    )
    n = sum(map(len, sentences))
    small = ss.HMMTagger(1, classes="sets", threshold=0.1, max_classes=300).fit(train)
    large = ss.HMMTagger(2).fit(train)
    trained = ss.HMMTagger(2, training="discriminative").fit(train)
    machines = {
        "n1": ss.FSTTagger.from_hmm(small, "n1"),
        "s+n1 (F2)": ss.FSTTagger.from_hmm(small, "s+n1", corpus=familiar, min_count=2),
        "lazy, sets": ss.FSTTagger.from_hmm(small, "lazy", corpus=familiar),
        "lazy, order 2, words": ss.FSTTagger.from_hmm(large, "lazy", corpus=familiar),
        "lazy, neighbours": ss.FSTTagger.from_hmm(trained, "lazy", corpus=familiar),
    }
    print(f"from classes to tags (integer arrays), million tokens/s: {'cold':>8} {'warm':>8}")
    decoders = {
        "Viterbi, order 1, sets": small,
        "Viterbi, order 2, words": large,
        "Viterbi, neighbours": trained,
    }
    print(f"  {'dense Viterbi (ss.viterbi)':54} {dense(small, sentences):8.3f}")
    for name, tagger in (decoders | machines).items():
        cold, warm = cold_and_warm(tagger, familiar, sentences)
        print(f"  {name:54} {cold:8.2f} {warm:8.2f}")
    print("strings to strings, file to file; long files on all cores: known, new")
    with tempfile.TemporaryDirectory() as folder:
        text, long, tagged = (Path(folder, name) for name in ("text", "long", "tagged"))
        text.write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")
        long.write_bytes(8 * text.read_bytes())
        if arguments.text:
            for tagger in decoders.values():  # classes of unknown words are shared, and remembered
                files(tagger, arguments.text, tagged)()
        for name, tagger in (machines | decoders).items():
            strings = best(lambda tagger=tagger: tagger.predict(sentences), n, 3)
            figures = [strings, best(files(tagger, text, tagged), n, 3)]
            for path in filter(None, (long, arguments.text)):
                (_, n_words), spent = on_all_cores(files(tagger, path, tagged))
                figures.append(n_words / spent / 1e6)
            print(f"  {name:26} " + " ".join(f"{figure:8.2f}" for figure in figures))


def dense(tagger, sentences):
    """Time the package's general Viterbi on the same first-order model, as a plain HMM."""
    model = tagger.model_
    n = model.n_tags
    emission = np.zeros((n, model.n_classes))
    owner = np.repeat(np.arange(model.n_classes), np.diff(model.offsets))
    emission[model.candidates, owner] = np.exp(model.scores / 2**20)
    chances = np.exp(model.bigram / 2**20)
    hmm = ss.HMM.normalized(
        chances[n, :n], chances[:n, :n], emission, np.zeros(n), ss.Alphabet(range(model.n_classes))
    )
    codes, starts = tagger.to_classes(sentences[:1000])
    corpus = ss.Corpus(codes, starts, hmm.alphabet)
    return best(lambda: ss.viterbi(hmm, corpus), len(codes), 2)


if __name__ == "__main__":
    main()
