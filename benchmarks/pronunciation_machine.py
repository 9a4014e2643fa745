"""The exported joint n-gram machine beside the search: how often Pynini writes the same.

    pip install pynini
    python benchmarks/pronunciation_machine.py --data DIR dut hun kor

For each language (by default all of the 2020 task) a joint n-gram model that ranks outputs by their
best alignment is learned from the training words and written as AT&T text; OpenFst then takes the
cheapest path for every development word, and its output is compared with that of the model.
"""

import argparse
from pathlib import Path

import pynini
import pywrapfst

from sigmastar import Transliterator
from sigmastar.datasets import load_pronunciation
from sigmastar.datasets.pronunciation import PRONUNCIATIONS
from sigmastar.transducers.transliteration.forms import in_form, out_of_form


def cheapest(model, words):
    """Return what OpenFst writes for each word, as symbols in the form of the model."""
    arcs, _, _ = model.to_att()
    compiler = pywrapfst.Compiler()
    compiler.write(arcs)
    machine = pynini.Fst.from_pywrapfst(compiler.compile()).arcsort()
    names = model.target_alphabet.symbols
    source = in_form(words, model.forms[0]).recode(model.source_alphabet, unknown="ignore")
    for start, end in zip(source.offsets[:-1], source.offsets[1:], strict=True):
        reads = pynini.Fst()
        state = reads.add_state()
        reads.set_start(state)
        for code in source.symbols[start:end].tolist():
            following = reads.add_state()
            reads.add_arc(state, pynini.Arc(code + 1, code + 1, 0, following))
            state = following
        reads.set_final(state)
        best = pynini.shortestpath(pynini.compose(reads, machine))
        if best.num_states() == 0:
            yield []
            continue
        yield [names[label - 1] for label in best.paths().olabels() if label]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("languages", nargs="*", default=list(PRONUNCIATIONS))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--part", default="dev", choices=("dev", "test"))
    options = parser.parse_args()
    same, n_words = 0, 0
    for language in options.languages:
        splits = load_pronunciation(language, data_home=options.data)
        learner = Transliterator("joint-ngram", alignments="best").fit(splits.train)
        model, words = learner.model_, getattr(splits, options.part).source
        own = [list(output) for output in learner.predict(words)]
        others = [list(out_of_form(path, model.forms[1])) for path in cheapest(model, words)]
        agreed = sum(a == b for a, b in zip(own, others, strict=True))
        same, n_words = same + agreed, n_words + len(own)
        print(f"{language}  {agreed} of {len(own)}", flush=True)
    print(f"all  {same} of {n_words}: {100 * same / n_words:.2f} %")


if __name__ == "__main__":
    main()
