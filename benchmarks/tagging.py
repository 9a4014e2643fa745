"""Speed of tagging in one run: transducers, our Viterbi, and ways in and out.

Trains, and lets machines grow, on one half of the Brown corpus ($SIGMASTAR_DATA or --data DIR) and
tags the other half: cold, the first time, and warm, the best of several rounds after that, when
machines that grow have made all arcs of that half too. All figures are millions of tokens a second
on one core, by the processor's clock, so that other work on the machine disturbs them little. Long
files are tagged on all cores, by the wall clock: the half eight times over, known by now, and, with
--raw FILE or --text FILE, a text that is met for the first time.

Machines that tag new text are made afresh for each round, with the arcs of the first half alone;
the median of several rounds counts.
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
from sigmastar.corpus.readers.source import Source
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.lexicon.words import word_spans
from sigmastar.tagging.text.raw import paragraphs
from timing import best_of

ROUNDS = 5  # on new text


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


def fresh(tagger, arcs):
    """Return a tagger that has met nothing but what its arcs were grown on."""
    if arcs is None:
        return tagger
    old = tagger.machine
    machine = LazyTransducer(old.model, max_states=old.max_states)
    machine.regrow(arcs)
    return ss.FSTTagger(machine, tagger.vocabulary, tagger.tags, tagger.info)


def files(tagger, source_path, target_path):
    """Return a function that tags a file."""

    def tag():
        with open(source_path, "rb") as source, open(target_path, "wb") as target:
            return tagger.tag_file(source, target)

    return tag


def on_all_cores(work):
    """Tag a file with all threads; return million words a second, by the wall clock."""
    one = os.environ.pop("SIGMASTAR_THREADS")
    began = time.perf_counter()
    _, n_words = work()
    spent = time.perf_counter() - began
    os.environ["SIGMASTAR_THREADS"] = one
    return n_words / spent / 1e6


def cut_file(raw_path, path):
    """Cut raw text into tokens, a sentence a line."""
    cutting = ss.Tokenizer.default()
    with Source(raw_path) as source, open(path, "w", encoding="utf-8") as target:
        for text in paragraphs(source):
            target.writelines(" ".join(words) + "\n" for words in cutting.tokenize(text))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="directory with the data")
    new = parser.add_mutually_exclusive_group()
    new.add_argument("--text", help="a file to tag for the first time, one sentence a line")
    new.add_argument("--raw", help="raw text to tag for the first time; it is cut by rules before")
    parser.add_argument("--sentences", type=int, help="take so many of the corpus, to try it out")
    arguments = parser.parse_args()
    data = arguments.data
    os.environ["SIGMASTAR_THREADS"] = "1"
    whole, _ = brown_split(data, joined=False)
    n = arguments.sentences or len(whole.source)
    half = n // 2
    train = ss.PairCorpus(whole.source[:half], whole.target[:half])
    familiar, sentences = (
        [[str(word) for word in sentence] for sentence in part]
        for part in (train.source, whole.source[half:n])
    )
    n_words = sum(map(len, sentences))
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
    arcs = {
        name: tagger.machine.to_arrays()
        for name, tagger in machines.items()
        if isinstance(tagger.machine, LazyTransducer)
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
    columns = ("strings", "file", "file, cold", "known long", "new long")
    print("strings to strings, file to file (one core); long files on all cores: known, new")
    print(f"  {'':26} " + " ".join(f"{column:>10}" for column in columns))
    with tempfile.TemporaryDirectory() as folder:
        text, long, tagged, cut = (Path(folder, name) for name in ("text", "long", "tagged", "cut"))
        text.write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")
        long.write_bytes(8 * text.read_bytes())
        new = cut_file(arguments.raw, cut) if arguments.raw else arguments.text
        for name, tagger in (machines | decoders).items():
            grown = arcs.get(name)

            def cold(measure, path, tagger=tagger, grown=grown):
                """Tag a file several times with a machine that has not met it; take the median."""
                rounds = [fresh(tagger, grown) for _ in range(ROUNDS)]
                return np.median([measure(files(one, path, tagged)) for one in rounds])

            # The table of words is made before anything is timed; machines meet nothing by that.
            tagger.vocabulary_.classes_of_bytes(*one_sentence(familiar))
            figures = [
                best(lambda tagger=tagger: tagger.predict(sentences), n_words, 3),
                best(files(tagger, text, tagged), n_words, 3),
                cold(on_one_core, text),
                on_all_cores(files(tagger, long, tagged)),
            ]
            if new:
                figures.append(cold(on_all_cores, new))
            print(f"  {name:26} " + " ".join(f"{figure:10.2f}" for figure in figures), flush=True)


def on_one_core(work):
    """Tag a file; return million words a second, by the processor's clock."""
    began = time.process_time()
    _, n_words = work()
    return n_words / (time.process_time() - began) / 1e6


def one_sentence(sentences):
    """Return a sentence as the kernels take text."""
    spans = word_spans(sentences[0])
    return spans, np.array([0, len(sentences[0])])


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
