"""Model files: round trips, hand-computed machines, messages."""

import gzip
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from automata.oracles import all_strings, random_hmm, random_pfa, random_wfa, value
from sigmastar.core.errors import InvalidData, InvalidModel, InvalidParameter, ParseError

SEEDS = st.integers(0, 10_000)
# Hypothesis runs many examples in one test: they may share one directory.
STRINGS = [x for n in range(5) for x in itertools.product(range(2), repeat=n)]


def over_integers(model):
    alphabet = ss.Alphabet(range(len(model.alphabet)))
    if isinstance(model, ss.HMM):
        return ss.HMM(model.initial, model.transition, model.emission, model.stop, alphabet)
    return type(model)(model.initial, model.transitions, model.final, alphabet)


def values(model):
    return np.array([value(ss.algebra.to_wfa(model), x) for x in STRINGS])


def through(model, directory, name):
    path = directory / name
    ss.write_model(model, path)
    return ss.read_model(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@given(SEEDS, st.sampled_from(["m_model.txt", "m.treba", "m.att"]))
def test_pfa_survives_every_text_format(folder, seed, name):
    model = over_integers(random_pfa(seed))
    back = through(model, folder, name)
    assert isinstance(back, ss.PFA)
    assert back.alphabet == model.alphabet
    np.testing.assert_allclose(values(back), values(model), rtol=1e-12)


@given(SEEDS)
def test_hmm_survives_treba(folder, seed):
    model = over_integers(random_hmm(seed))
    back = through(model, folder, "h.treba")
    assert isinstance(back, ss.HMM)
    np.testing.assert_allclose(values(back), values(model), rtol=1e-12)


@given(SEEDS)
def test_hmm_in_pautomac_is_its_pfa(folder, seed):
    model = over_integers(random_hmm(seed))
    np.testing.assert_allclose(
        values(through(model, folder, "h_model.txt")), values(model), rtol=1e-12
    )


@given(SEEDS)
def test_att_restores_the_initial_vector(folder, seed):
    model = random_pfa(seed)
    back = through(model, folder, "v.att")
    assert back.n_states == model.n_states
    assert back.allclose(model)


@given(st.lists(st.text(min_size=0, max_size=3), min_size=1, max_size=5, unique=True))
def test_att_restores_symbols(folder, symbols):
    symbols = [s for s in symbols if s != "<eps>" and not s.isdigit()] or ["x"]
    n = len(symbols)
    model = ss.PFA([1.0], np.full((n, 1, 1), 0.5 / n), [0.5], ss.Alphabet(symbols))
    assert through(model, folder, "s.att").alphabet == model.alphabet


@given(SEEDS, st.sampled_from([random_pfa, random_hmm, random_wfa]))
def test_sigma_is_bit_for_bit(folder, seed, make):
    model = make(seed)
    assert through(model, folder, "m.sigma") == model


def test_a_nonnegative_wfa_comes_back_from_att_as_a_wfa(tmp_path):
    model = ss.WFA([2.0, 0.5], [[[0.1, 2.0], [0, 0.3]]], [0.0, 3.0], ss.Alphabet("x"))
    back = through(model, tmp_path, "w.att")
    assert type(back) is ss.WFA
    for x in all_strings("x", 6):
        assert value(back, x) == pytest.approx(value(model, x))


def test_zero_function_survives_att(tmp_path):
    model = ss.WFA([1.0], [[[0.0]]], [0.0], ss.Alphabet("x"))
    assert value(through(model, tmp_path, "z.att"), "x") == 0.0


def test_pautomac_machine_by_hand(tmp_path):
    path = tmp_path / "m_model.txt.gz"
    text = """I: (state)
\t(0) 0.25
\t(1) 0.75
F: (state)
\t(0) 0.5
\t(1) 0.1
S: (state,symbol)
\t(0,0) 1.0
\t(1,0) 0.4
\t(1,1) 0.6
T: (state,symbol,state)
\t(0,0,1) 1.0
\t(1,0,0) 1.0
\t(1,1,0) 0.5
\t(1,1,1) 0.5
"""
    path.write_bytes(gzip.compress(text.encode()))
    model = ss.read_model(path)
    assert isinstance(model, ss.PFA)
    assert value(model, [1]) == pytest.approx(0.75 * 0.9 * 0.6 * (0.5 * 0.5 + 0.5 * 0.1))
    assert value(model, []) == pytest.approx(0.25 * 0.5 + 0.75 * 0.1)


def test_treba_automaton_by_hand(tmp_path):
    path = tmp_path / "m.fsm"
    path.write_text("# two states\n0 1 0 0.5\n0 0.5\n1 0 1 0.75\n1 0.25\n")
    model = ss.read_model(path)
    assert value(model, [0]) == pytest.approx(0.5 * 0.25)
    assert value(model, [0, 1]) == pytest.approx(0.5 * 0.75 * 0.5)


def test_treba_hmm_by_hand(tmp_path):
    # 0 is the silent start, 3 the silent end; states emit when they are entered.
    path = tmp_path / "m.hmm"
    path.write_text(
        "0 > 1 0.4\n0 > 2 0.5\n0 > 3 0.1\n1 > 2 0.7\n1 > 3 0.3\n2 > 1 0.2\n2 > 3 0.8\n"
        "1 0 0.9\n1 1 0.1\n2 1 1.0\n"
    )
    model = ss.algebra.to_wfa(ss.read_model(path))
    assert value(model, []) == pytest.approx(0.1)
    assert value(model, [1]) == pytest.approx(0.4 * 0.1 * 0.3 + 0.5 * 1.0 * 0.8)
    assert value(model, [0, 1]) == pytest.approx(0.4 * 0.9 * 0.7 * 1.0 * 0.8)


def test_att_removes_epsilons_through_their_closure(tmp_path):
    # An epsilon loop of weight 1/2 at state 0 doubles what leaves it: 1 + 1/2 + 1/4 + …
    path = tmp_path / "e.att"
    rows = [
        f"0 0 <eps> <eps> {math.log(2)}",
        f"0 1 a a {-math.log(0.3)}",
        f"0 1 <eps> <eps> {-math.log(0.1)}",
        f"1 {-math.log(0.5)}",
    ]
    path.write_text("\n".join(rows) + "\n")
    model = ss.read_model(path)
    assert value(model, "a") == pytest.approx(2 * 0.3 * 0.5)
    assert value(model, "") == pytest.approx(2 * 0.1 * 0.5)


def test_att_start_is_the_first_source(tmp_path):
    path = tmp_path / "f.att"
    path.write_text("7 3 a 0.0\n3 7 b 0.0\n3 0.0\n")
    model = ss.read_model(path)
    assert value(model, "a") == 1.0
    assert value(model, "aba") == 1.0
    assert value(model, "b") == 0.0


def test_att_refuses_epsilon_cycles_without_closure(tmp_path):
    path = tmp_path / "e.att"
    path.write_text("0 0 <eps> <eps> 0.0\n0 0.5\n")
    with pytest.raises(InvalidModel, match="spectral radius"):
        ss.read_model(path)


def test_att_refuses_a_transducer(tmp_path):
    path = tmp_path / "t.att"
    path.write_text("0 1 a b 0.5\n1\n")
    with pytest.raises(ParseError, match=r"t\.att:1: expected equal input and output labels"):
        ss.read_model(path)


@pytest.mark.parametrize("name", ["m.att", "m.treba", "m_model.txt"])
def test_negative_weights_are_not_written(tmp_path, name):
    with pytest.raises(InvalidModel, match="PFA"):
        ss.write_model(over_integers(random_wfa(0)), tmp_path / name)
    assert not (tmp_path / name).exists()


def test_formats_without_names_need_integers(tmp_path):
    with pytest.raises(InvalidModel, match="AT&T"):
        ss.write_model(random_pfa(0), tmp_path / "m.treba")


def test_treba_and_att_are_not_guessed_apart(tmp_path):
    path = tmp_path / "m.txt"
    path.write_text("0 0 0 0.5\n0 0.5\n")
    with pytest.raises(InvalidData, match="look alike"):
        ss.read_model(path)
    assert ss.read_model(path, "treba").final[0] == 0.5


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("m_model.txt", "I: (state)\n\t(0) x\n", r":2: expected a probability, found 'x'"),
        ("m_model.txt", "(0) 1.0\n", r":1: expected a section I:"),
        ("m_model.txt", "I: (state)\n\t(0,1) 1.0\n", r":2: expected a line such as \(0\) 0.5"),
        ("m.treba", "0 0 0 0.5\n0 1.5\n", r":2: expected a probability between 0 and 1"),
        ("m.treba", "0 0 0 0.5 1\n", r":1: expected source target symbol"),
        ("m.att", "0 1 a a 0.5\n1 x\n", r":2: expected a weight .*, found 'x'"),
        ("m.att", "zero 1 a a 0.5\n", r":1: expected the number of a state"),
    ],
)
def test_malformed_model_names_file_and_line(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ParseError, match=message):
        ss.read_model(path)


def test_hostile_sizes_are_refused(tmp_path):
    path = tmp_path / "m.treba"
    path.write_text("0 999999 999999 1.0\n")
    with pytest.raises(ParseError, match="weights"):
        ss.read_model(path)


def test_write_needs_a_format_for_an_unknown_name(tmp_path):
    with pytest.raises(InvalidParameter, match="format must be given"):
        ss.write_model(random_pfa(0), tmp_path / "model.bin")


@pytest.mark.parametrize("name", ["m.treba", "m_model.txt"])
def test_the_last_symbol_survives_though_nothing_emits_it(tmp_path, name):
    automaton = ss.PFA([1.0], [[[0.5]], [[0.0]]], [0.5], ss.Alphabet(range(2)))
    assert through(automaton, tmp_path, name) == automaton


def test_hmms_survive_treba_without_a_last_symbol_or_an_end(tmp_path):
    silent = ss.HMM([1.0], [[1.0]], [[0.5, 0.0]], [0.5], ss.Alphabet(range(2)))
    back = through(silent, tmp_path, "m.treba")
    assert back.alphabet == silent.alphabet
    np.testing.assert_allclose(values(back), values(silent))
    endless = ss.HMM([1.0], [[1.0]], [[0.25, 0.75]], [0.0], ss.Alphabet(range(2)))
    back = through(endless, tmp_path, "m.treba")
    assert not values(back).any()
    assert ss.log_prefix_proba(back, [[0, 1]])[0] == pytest.approx(np.log(0.25 * 0.75))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 > 0 1.0\n", "a start state 0 and a higher-numbered end state"),
        ("0 > 1 1.0\n1 > 0 0.5\n1 > 2 0.5\n1 0 1.0\n", "no arc into the start state"),
        ("0 > 1 1.0\n0 0 1.0\n1 > 2 1.0\n1 0 1.0\n", "no emission in the start and the end"),
    ],
)
def test_hmms_of_treba_begin_at_state_0_and_end_in_the_last(tmp_path, text, message):
    (tmp_path / "m.treba").write_text(text)
    with pytest.raises(ParseError, match=message):
        ss.read_model(tmp_path / "m.treba")


def test_weights_beyond_all_probabilities_are_refused(tmp_path):
    (tmp_path / "m.att").write_text("0 1 a a -400\n1\n")
    with pytest.raises(ParseError, match="a weight of at least -300"):
        ss.read_model(tmp_path / "m.att")


def test_graphviz_gets_the_arcs_that_can_be_seen(tmp_path):
    arcs = [[[0.5, 0.0], [0.0, 1e-9]], [[0.0, 0.25], [0.0, 0.5]]]
    model = ss.PFA([1, 0], arcs, [0.25, 0.5 - 1e-9], ss.Alphabet(['say "a"', "b\n"]))
    ss.write_model(model, tmp_path / "m.dot")
    lines = [line.strip() for line in (tmp_path / "m.dot").read_text().splitlines()]
    drawn = [line.partition(", penwidth")[0] for line in lines if " -> " in line]
    assert drawn == [
        'start0 [shape=point]; start0 -> 0 [label="1"];',
        '0 -> 0 [label="say \\"a\\" 0.5"',
        '0 -> 1 [label="b\\\\u000a 0.25"',
        '1 -> 1 [label="b\\\\u000a 0.5"',
    ]
    assert "// 2 states; 1 weaker arcs are left out" in lines
