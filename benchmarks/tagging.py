"""Speed of tagging in one run: transducers, our Viterbi, and ways in and out.

Trains on 90 % of the Brown corpus ($SIGMASTAR_DATA or --data DIR) and tags that text. All figures
are millions of tokens a second on one core, by the processor's clock, so that other work on the
machine disturbs them little; the best of several rounds.
"""

import argparse
import tempfile
import time
from functools import partial
from pathlib import Path

import numba
import numpy as np

import sigmastar as ss
from sigmastar.bench.tagging import brown_split
from timing import best_of


def best(function, n_tokens, rounds=5):
    spent = best_of(function, rounds, warm_up=True, clock=time.process_time)
    return n_tokens / spent / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="directory with the data")
    data = parser.parse_args().data
    numba.set_num_threads(1)
    train, _ = brown_split(data, joined=False)
    sentences = [[str(word) for word in sentence] for sentence in train.source]
    n = train.source.n_symbols
    small = ss.HMMTagger(1, classes="sets", threshold=0.1, max_classes=300).fit(train)
    large = ss.HMMTagger(2).fit(train)
    machines = {
        "n1": ss.FSTTagger.from_hmm(small, "n1"),
        "s+n1 (F2)": ss.FSTTagger.from_hmm(small, "s+n1", corpus=sentences, min_count=2),
        "lazy, sets": ss.FSTTagger.from_hmm(small, "lazy", corpus=sentences),
        "lazy, order 2, words": ss.FSTTagger.from_hmm(large, "lazy", corpus=sentences),
    }
    print("from classes to tags (integer arrays), million tokens/s")
    for name, tagger in (("Viterbi, order 1, sets", small), ("Viterbi, order 2, words", large)):
        run = partial(tagger.tag_classes, *tagger.to_classes(sentences))
        print(f"  {name:26} {best(run, n):8.2f}")
    print(f"  {'dense Viterbi (ss.viterbi)':26} {dense(small, sentences):8.3f}")
    for name, tagger in machines.items():
        run = partial(tagger.tag_classes, *tagger.to_classes(sentences))
        print(f"  {name:26} {best(run, n):8.2f}")
    print("from Python strings to Python strings, and from text file to text file")
    with tempfile.TemporaryDirectory() as folder:
        text, tagged = Path(folder, "text.txt"), Path(folder, "tagged.txt")
        text.write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")
        for name, tagger in {**machines, "Viterbi, order 2, words": large}.items():

            def through_files(tagger=tagger):
                with open(text, "rb") as source, open(tagged, "wb") as target:
                    tagger.tag_file(source, target)

            strings = best(lambda tagger=tagger: tagger.predict(sentences), n, 3)
            print(f"  {name:26} {strings:8.2f} {best(through_files, n, 3):8.2f}")


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
