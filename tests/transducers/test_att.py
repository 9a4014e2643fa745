"""The exported joint n-gram machine: OpenFst finds what the search finds."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidModel, InvalidParameter

LETTERS = dict(zip("abdegiklmnoprstx", "а б д е г и к л м н о п р с т кс".split(), strict=True))


def names(n, seed):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list(LETTERS), size=rng.integers(2, 7))) for _ in range(n)]
    return [(word, "".join(LETTERS[c] for c in word).replace("ка", "ха")) for word in words]


@pytest.fixture(scope="module")
def learner():
    return ss.Transliterator("joint-ngram", order=3).fit(names(200, 0))


def cheapest_paths(model, words):
    """Return what OpenFst writes for each word, and at which cost."""
    pynini = pytest.importorskip("pynini")
    pywrapfst = pytest.importorskip("pywrapfst")
    arcs, inputs, outputs = model.to_att()
    compiler = pywrapfst.Compiler()
    compiler.write(arcs)
    machine = pynini.Fst.from_pywrapfst(compiler.compile()).arcsort()
    codes = dict(line.split("\t") for line in inputs.splitlines())
    written = {int(code): name for name, code in map(str.split, outputs.splitlines())}
    found = []
    for word in words:
        reads = pynini.Fst()
        state = reads.add_state()
        reads.set_start(state)
        for letter in word:
            label, following = int(codes[letter]), reads.add_state()
            reads.add_arc(state, pynini.Arc(label, label, 0, following))
            state = following
        reads.set_final(state)
        best = pynini.shortestpath(pynini.compose(reads, machine))
        output = "".join(written[label] for label in best.paths().olabels() if label)
        found.append((output, float(next(best.paths().weights()))))
    return found


def test_the_cheapest_path_writes_the_best_output(learner):
    words = [word for word, _ in names(40, 1)]
    pairs = list(zip(cheapest_paths(learner.model_, words), learner.n_best(words, 1), strict=True))
    for (_, cost), found in pairs:
        # Not equal: one adds up alignments, the other may back off where it need not.
        assert cost == pytest.approx(-found[0][1], abs=0.5)
    assert sum(output == found[0][0] for (output, _), found in pairs) >= 39


def test_the_best_alignment_costs_what_the_cheapest_path_does():
    # Noise makes contexts that are better left early, although they know the next unit.
    rng = np.random.default_rng(5)
    pairs = [
        (word, "".join(c if rng.random() < 0.8 else "ы" for c in written))
        for word, written in names(300, 2)
    ]
    settings = {"source_form": "given", "target_form": "given"}
    learner = ss.Transliterator("joint-ngram", order=4, alignments="best", **settings).fit(pairs)
    words = [word for word, _ in names(60, 3)]
    source = ss.Corpus.from_sequences(words).recode(learner.model_.source_alphabet)
    best = learner.n_best(words, 1, beam=100)
    paths = cheapest_paths(learner.model_, words)
    assert [found[0][0] for found in best] == [output for output, _ in paths]
    scores = np.array([found[0][1] for found in best])
    np.testing.assert_allclose(-scores, [cost for _, cost in paths], atol=1e-4)
    every = learner.model_.candidates(source, 20, 100, gap=30.0)
    late, early = (
        learner.model_.parts["ngram"].log_proba(every.path, every.offsets, early=early)
        for early in (False, True)
    )
    assert (early >= late - 1e-12).all()
    assert (early > late + 1e-3).any()


def test_outputs_can_be_ranked_by_their_best_alignment():
    # Which of two equal letters is silent is anybody's guess: outputs have several alignments.
    pairs = [(word + word[-1], written) for word, written in names(200, 0)]
    settings = {"order": 2, "source_form": "given", "target_form": "given"}
    by_sum, by_best = (
        ss.Transliterator("joint-ngram", alignments=alignments, **settings).fit(pairs)
        for alignments in ("sum", "best")
    )
    ngram, words = by_best.model_.parts["ngram"], [word + word[-1] for word, _ in names(40, 1)]
    source = ss.Corpus.from_sequences(words).recode(by_best.model_.source_alphabet)
    every = by_best.model_.candidates(source, 50, 100, gap=30.0)
    single = ngram.log_proba(every.path, every.offsets, early=True)
    for row, found in enumerate(by_best.n_best(words, 2)):
        expected = np.sort(single[every.owner == row])[::-1][:2]
        np.testing.assert_allclose([score for _, score in found], expected)
    firsts = [[found[0][1] for found in each.n_best(words, 1)] for each in (by_sum, by_best)]
    # Other alignments add to an output: where it has any, its sum is the larger number.
    assert all(a >= b for a, b in zip(*firsts, strict=True))
    assert sum(firsts[0]) > sum(firsts[1]) + 0.01


def test_lines_are_arcs_and_final_weights_and_the_first_leaves_the_start(learner):
    arcs = [line.split("\t") for line in learner.model_.to_att().arcs.splitlines()]
    assert arcs[0][0] == "0"
    assert {len(row) for row in arcs} == {2, 5}
    states = {int(row[0]) for row in arcs} | {int(row[1]) for row in arcs if len(row) == 5}
    assert states == set(range(max(states) + 1))


def test_models_and_symbols_that_no_table_holds_are_refused(learner):
    em = ss.Transliterator("em", n_states=1, max_iter=2).fit(names(30, 0))
    with pytest.raises(InvalidParameter, match="method='joint-ngram'"):
        em.model_.to_att()
    odd = ss.Transliterator("joint-ngram").fit([(["a b", "c"], ["x", "y"])] * 5)
    with pytest.raises(InvalidModel, match="different names without spaces"):
        odd.model_.to_att()


def test_shares_of_the_best_outputs_sum_to_one(learner):
    found = learner.n_best(["kaxa", ""], 4, probabilities=True)
    assert sum(share for _, share in found[0]) == pytest.approx(1.0)
    scores = [score for _, score in learner.n_best(["kaxa"], 4)[0]]
    shares = [share for _, share in found[0]]
    np.testing.assert_allclose(np.diff(np.log(shares)), np.diff(scores))
    assert found[1] == []
