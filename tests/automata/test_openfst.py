"""The Pynini bridge against enumeration."""

import math
import sys

import pynini
import pytest
import pywrapfst
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from automata.oracles import all_strings, random_hmm, random_pfa, random_wfa, value
from sigmastar.automata.formats.openfst import from_openfst, to_openfst
from sigmastar.core.errors import InvalidModel, MissingExtra


def weight_of(fst, string):
    """Sum over all paths by composing with the string and taking the shortest distance."""
    table = fst.input_symbols()
    chain = pynini.Fst("log64")
    chain.add_states(len(string) + 1)
    chain.set_start(0)
    one = pynini.Weight.one("log64")
    for i, symbol in enumerate(string):
        label = table.find(symbol)
        chain.add_arc(i, pynini.Arc(label, label, one, i + 1))
    chain.set_final(len(string), one)
    chain.set_input_symbols(table)
    chain.set_output_symbols(table)
    both = pynini.compose(chain, fst)
    if both.start() < 0:
        return 0.0
    return math.exp(-float(pynini.shortestdistance(both, reverse=True)[both.start()]))


@pytest.mark.parametrize("model", [random_pfa(1), random_hmm(2)], ids=["pfa", "hmm"])
def test_openfst_weighs_strings_as_the_model_does(model):
    fst = model.to_openfst()
    assert fst.arc_type() == "log64"
    for x in all_strings("ab", 4):
        assert weight_of(fst, x) == pytest.approx(value(ss.algebra.to_wfa(model), x), rel=1e-6)


@given(st.integers(0, 1000))
def test_openfst_round_trip(seed):
    model = random_pfa(seed)
    back = from_openfst(to_openfst(model))
    assert isinstance(back, ss.PFA)
    assert back.allclose(model)


def test_openfst_refuses_negative_weights_and_says_what_to_do():
    with pytest.raises(InvalidModel, match="Learn a model without negative weights: SeparablePFA"):
        random_wfa(0).to_openfst()


def test_openfst_without_pynini_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynini", None)
    with pytest.raises(MissingExtra, match=r"sigmastar\[fst\]"):
        random_pfa(0).to_openfst()


def test_openfst_refuses_a_transducer():
    fst = pynini.cross("a", "b")
    with pytest.raises(InvalidModel, match="acceptor"):
        from_openfst(fst)


def test_openfst_integers_stay_integers():
    model = ss.PFA([1.0], [[[0.25]], [[0.25]]], [0.5], ss.Alphabet(range(2)))
    assert from_openfst(to_openfst(model)).alphabet == model.alphabet


def test_att_text_is_what_openfst_compiles(tmp_path):
    model = random_pfa(4)
    ss.write_model(model, tmp_path / "m.att")
    table = pynini.SymbolTable.read_text(str(tmp_path / "m.att.syms"))
    compiler = pywrapfst.Compiler(arc_type="log64")
    compiler.write((tmp_path / "m.att").read_text())
    fst = compiler.compile()
    fst.set_input_symbols(table)
    assert from_openfst(fst).allclose(model)


def machine(arc_type="log64", label=1, weight=0.5, start=True, table=True):
    """Build an acceptor of one arc, sound or not."""
    fst = pynini.Fst(arc_type)
    fst.add_states(2)
    if start:
        fst.set_start(0)
    fst.add_arc(0, pynini.Arc(label, label, pynini.Weight(arc_type, weight), 1))
    fst.set_final(1)
    if table:
        symbols = pynini.SymbolTable()
        symbols.add_symbol("<eps>", 0)
        symbols.add_symbol("a", 1)
        fst.set_input_symbols(symbols)
        fst.set_output_symbols(symbols)
    return fst


def test_labels_are_the_symbols_of_a_machine_without_names():
    model = from_openfst(machine(label=7, table=False))
    assert list(model.alphabet) == [7]
    assert model.transitions[0, 0, 1] == pytest.approx(math.exp(-0.5))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": False}, "no start state"),
        ({"label": 5}, "the label 5 is not in the machine's symbol table"),
        ({"weight": -400.0}, "weights must be numbers of at least -300"),
    ],
)
def test_machines_that_are_no_models_are_refused(change, message):
    with pytest.raises(InvalidModel, match=message):
        from_openfst(machine(**change))


@pytest.mark.parametrize("symbols", [["<eps>", "b"], [1, "1"]])
def test_symbols_need_names_of_their_own(symbols):
    model = ss.PFA([1.0], [[[0.25]], [[0.25]]], [0.5], ss.Alphabet(symbols))
    with pytest.raises(InvalidModel, match="symbols must have different, non-empty names"):
        to_openfst(model)
