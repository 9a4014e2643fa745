"""Transliterators beside Phonetisaurus, in turn on the same words: seconds, words a second, errors.

    python -m venv other && other/bin/pip install phonetisaurus
    python benchmarks/pronunciation.py --data DIR --phonetisaurus other/bin/phonetisaurus dut names

Data sets are languages of the 2020 task, ``names`` (English to Russian, 5,977 pairs) and
``names-full`` (105,371). Errors are counted on development words, or with ``--part test`` on test
words, and speed is that of writing these and the training words, wall-clock: our methods run on all
processors, Phonetisaurus has one thread, and its time includes starting it. ``--methods`` chooses
among ours; ``--words 800`` learns from the first so many words only.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from sigmastar import Transliterator
from sigmastar.datasets import load_pronunciation, load_transliteration


class Phonetisaurus:
    """The program, as the command of its Python package runs it."""

    def __init__(self, command, folder):
        self.command, self.model = command, folder / "model.fst"
        self.lexicon = folder / "lexicon.txt"

    def fit(self, train):
        """Write a lexicon, and learn a model from it."""
        rows = [f"{''.join(word)}\t{' '.join(phones)}\n" for word, phones in train]
        self.lexicon.write_text("".join(rows), encoding="utf-8")
        self._run("train", "--model", self.model, self.lexicon)
        return self

    def predict(self, words):
        """Return the phones of each word; none where the program finds none."""
        text = "".join(f"{''.join(word)}\n" for word in words)
        found = dict(
            line.split(" ", 1)
            for line in self._run("predict", "--model", self.model, text=text).splitlines()
            if " " in line
        )
        return [found.get("".join(word), "").split() for word in words]

    def _run(self, *arguments, text=""):
        done = subprocess.run(
            [self.command, *arguments], input=text, capture_output=True, text=True, check=True
        )
        return done.stdout


def load(name, data, part="dev"):
    """Return training pairs, and those that errors are counted on."""
    if name.startswith("names"):
        splits = load_transliteration(
            "en-ru", size="full" if name == "names-full" else "news", data_home=data
        )
    else:
        splits = load_pronunciation(name, data_home=data)
    return splits.train, getattr(splits, part)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", help="languages, names, names-full")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--phonetisaurus", metavar="COMMAND")
    parser.add_argument("--part", default="dev", choices=("dev", "test"))
    parser.add_argument("--words", type=int, metavar="N")
    parser.add_argument("--methods", nargs="*", default=["joint-ngram", "combined"])
    options = parser.parse_args()
    print(f"{'data':<12} {'method':<14} {'train s':>8} {'words/s':>9} {'word errors %':>14}")
    for name in options.sets:
        train, judged = load(name, options.data, options.part)
        train = train[: options.words]
        words, truth = [*train.source, *judged.source], [list(output) for output in judged.target]
        with tempfile.TemporaryDirectory() as folder:
            learners = {method: Transliterator(method) for method in options.methods}
            if options.phonetisaurus:
                learners["Phonetisaurus"] = Phonetisaurus(options.phonetisaurus, Path(folder))
            for title, learner in learners.items():
                if title != "Phonetisaurus":  # kernels from the cache
                    Transliterator(title).fit(train[:320]).predict(words[:1100])
                begin = time.perf_counter()
                learner.fit(train)
                trained = time.perf_counter()
                written = learner.predict(words)
                done = time.perf_counter()
                pairs = zip(written[len(train) :], truth, strict=True)
                wrong = sum(list(output) != right for output, right in pairs) / len(truth)
                print(
                    f"{name:<12} {title:<14} {trained - begin:>8.1f} "
                    f"{len(words) / (done - trained):>9,.0f} {100 * wrong:>14.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
