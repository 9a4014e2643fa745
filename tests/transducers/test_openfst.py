"""Transducers as OpenFst transducers: composition gives the same probabilities."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidModel, InvalidParameter
from transducers.oracles import path_sum, random_parameters

pynini = pytest.importorskip("pynini")


def acceptor(codes, table):
    fst = pynini.Fst(arc_type="log64")
    state = fst.add_state()
    fst.set_start(state)
    for code in codes:
        following = fst.add_state()
        label, free = table.find(str(code)), pynini.Weight("log64", 0.0)
        fst.add_arc(state, pynini.Arc(label, label, free, following))
        state = following
    fst.set_final(state)
    return fst


def weight(fst, x, y):
    """Return −log of the total weight of all paths that read x and write y."""
    both = pynini.compose(acceptor(x, fst.input_symbols()), fst)
    both = pynini.compose(both, acceptor(y, fst.output_symbols()))
    return float(pynini.shortestdistance(both, reverse=True)[both.start()])


def test_composition_sums_over_states():
    truth = random_parameters(2, 3, 2, 0)
    fst = truth.to_openfst()
    for x, y in [((0, 1), (2, 0)), ((1, 1, 0), (0, 1, 2)), ((), ())]:
        assert weight(fst, x, y) == pytest.approx(-np.log(path_sum(truth, x, y)), abs=1e-6)


def test_chunks_become_chains_of_symbols():
    pairs = [("max", "макс"), ("anna", "анна"), ("axa", "акса"), ("nana", "нана")] * 5
    model = ss.Transliterator("em", n_states=1, units=((1, 0), (1, 1), (1, 2))).fit(pairs).model_
    fst = model.to_openfst()
    begin, end = ("<begin>", "<end>")
    x, y = (begin, *"xan", end), (begin, *"ксан", end)
    corpus = ss.PairCorpus.from_pairs(
        [("xan", "ксан")],
        source_alphabet=model.source_alphabet,
        target_alphabet=model.target_alphabet,
    )
    expected = model.decoder.log_proba(corpus)[0]
    assert weight(fst, x, y) == pytest.approx(-expected, abs=1e-6)


def test_negative_weights_are_refused_with_a_remedy():
    model = random_parameters(2, 3, 2, 0).to_transducer()
    wild = ss.Transducer.from_dense(
        model.initial, -model.dense(), model.final, model.input_alphabet, model.output_alphabet
    )
    with pytest.raises(InvalidModel, match="recover_parameters"):
        wild.to_openfst()
    with pytest.raises(InvalidParameter, match="method='em'"):
        ss.Transliterator("joint-ngram").fit([("ab", "ab")] * 3).model_.to_openfst()


@pytest.mark.parametrize("symbols", [["<eps>", "b"], ["", "b"], [1, "1"], [("x",), "x"]])
def test_symbols_that_a_table_cannot_tell_apart_are_refused(symbols):
    letters = ss.Alphabet(symbols)
    model = ss.ParametricTransducer([1.0], [[[1.0]]] * 2, [[0.5, 0.5]], letters, ss.Alphabet("xy"))
    with pytest.raises(InvalidModel, match="symbols must have different, non-empty names"):
        model.to_openfst()
