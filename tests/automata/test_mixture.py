"""Mixtures: distributions that sum to one, counts by enumeration, cases without their sequence."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import random_pfa
from sigmastar.automata.mixture import learn as mixture_learner
from sigmastar.automata.mixture import model as model_module
from sigmastar.automata.mixture.code_tree import grow_tree, tree_depth, tree_of
from sigmastar.automata.mixture.contexts import SEGMENTS, SET, WINDOW, Views
from sigmastar.automata.mixture.evidence import (
    Experts,
    make_scratch,
    n_places,
    prepare,
    recall_own,
    rewind,
    survey,
    take,
)
from sigmastar.automata.mixture.machines import machines_of
from sigmastar.automata.mixture.mixer import ask, list_path, no_weights
from sigmastar.automata.mixture.model import ContextMixtureModel, leaves_of
from sigmastar.automata.mixture.repeats import first_times
from sigmastar.automata.mixture.tables import count_contexts
from sigmastar.core.errors import InvalidModel, InvalidParameter
from sigmastar.core.model_files import Stored

TRUTH = random_pfa(5, n_states=3, symbols="abcd", stop=0.4)
CORPUS = ss.sample(TRUTH, 150, random_state=1)
TEST = [*ss.sample(TRUTH, 12, random_state=2), list("abcd"), []]


@pytest.fixture(scope="module", params=["plain", "online", "no ends"])
def fitted(request):
    options = {"online": request.param == "online", "ends": request.param != "no ends"}
    return ss.ContextMixture(order=4, random_state=0, **options).fit(CORPUS)


def test_distributions_sum_to_one_after_every_prefix(fitted):
    prefixes = [sequence[:n] for sequence in TEST for n in range(len(sequence) + 1)]
    rows = fitted.next_distribution(prefixes)
    assert rows.shape[1] == 4 + fitted.ends
    assert (rows > 0).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def test_log_proba_is_the_sum_over_predicted_conditionals(fitted):
    for sequence, log_proba in zip(TEST, fitted.log_proba(TEST), strict=True):
        prefixes = [sequence[:n] for n in range(len(sequence) + 1)]
        rows = fitted.next_distribution(prefixes)
        columns = ["abcd".index(symbol) for symbol in sequence] + [4] * fitted.ends
        expected = sum(np.log(rows[n, column]) for n, column in enumerate(columns))
        assert log_proba == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_saved_and_loaded_it_predicts_bit_for_bit(fitted, tmp_path):
    fitted.save(tmp_path / "m.sigma")
    loaded = ss.load(tmp_path / "m.sigma")
    assert loaded == fitted.model_
    np.testing.assert_array_equal(ss.log_proba(loaded, TEST), fitted.log_proba(TEST))
    np.testing.assert_array_equal(
        ss.next_distribution(loaded, TEST), fitted.next_distribution(TEST)
    )


def test_the_number_of_threads_changes_nothing(fitted, monkeypatch):
    many = TEST * 30
    monkeypatch.setattr(model_module, "thread_count", lambda n_jobs: 1)
    one, rows = fitted.log_proba(many), fitted.next_distribution(many)
    monkeypatch.setattr(model_module, "thread_count", lambda n_jobs: 3)
    np.testing.assert_array_equal(fitted.log_proba(many), one)
    np.testing.assert_array_equal(fitted.next_distribution(many), rows)


def test_what_was_scored_before_changes_nothing(fitted):
    np.testing.assert_array_equal(fitted.log_proba(TEST[::-1])[::-1], fitted.log_proba(TEST))


def test_the_same_seed_learns_the_same_model():
    first, second = (ss.ContextMixture(order=3, random_state=4).fit(CORPUS) for _ in range(2))
    assert first.model_ == second.model_


def test_it_adapts_online():
    plain = ss.ContextMixture(order=4, automata="none", random_state=0).fit(CORPUS)
    model = plain.model_
    adapting = replace(model, rate=0.05)
    strange = ss.Corpus.from_sequences(["d" * 200], alphabet=CORPUS.alphabet)
    assert adapting.log_proba(strange)[0] > model.log_proba(strange)[0]
    assert adapting.log_proba(strange)[0] != model.log_proba(strange)[0]


def test_huffman_codes_are_as_short_as_can_be():
    counts = np.array([1, 1, 2, 4, 8])
    tree, leaf_of = grow_tree(counts)
    nodes = np.zeros((4, 7), dtype=np.int64)
    lengths = [list_path(tree, nodes, leaf) for leaf in leaf_of]
    assert lengths == [4, 4, 3, 2, 1]
    assert tree_depth(tree) == 4
    assert sorted(leaf_of) == list(range(5))


def test_nodes_that_do_not_split_their_leaves_are_no_tree():
    assert tree_of(np.array([1, 2], dtype=np.int32)).right.tolist() == [1, -3]
    with pytest.raises(InvalidModel, match="split"):
        tree_of(np.array([1, 1], dtype=np.int32))


def _expert_counts(tables, view, n_leaves):
    """Return the counts of each context of a view, as sorted tuples of (leaf, count)."""
    start, stop = tables.key_starts[view], tables.key_starts[view + 1]
    found = {}
    for key, inside in zip(tables.keys[start:stop], tables.inside[start:stop], strict=True):
        context, leaf = int(key) >> tables.low_bits, int(key) & ((1 << tables.low_bits) - 1)
        before = sum(count for _, count in found.get(context, []))
        found.setdefault(context, []).append((leaf, int(inside) - before))
    return Counter(tuple(grams) for grams in found.values())


def _oracle(sequences, context_of):
    found = {}
    for sequence in sequences:
        for place, symbol in enumerate(sequence):
            context = context_of(sequence[:place])
            found.setdefault(context, Counter())[symbol] += 1
    return Counter(tuple(sorted(grams.items())) for grams in found.values())


def _skipping(before):
    # Windows stop where the sequence begins: what lies before is one mark, however far.
    return (before[-1], before[-3]) if len(before) > 2 else tuple(before[-1:])


def _segments(before):
    runs = "".join(map(str, before)).split("0")
    return runs[-1], (runs[-2] if len(runs) > 1 else "")


@pytest.mark.parametrize(
    ("kind", "mask", "context_of"),
    [
        (WINDOW, 0b11, lambda before: ("begin", *before)[-2:]),
        (WINDOW, 0b101, _skipping),
        (SET, 0b11, lambda before: tuple(sorted(before[-2:]))),
        (SEGMENTS, 0b11, _segments),
    ],
)
def test_contexts_are_counted_as_by_hand(kind, mask, context_of):
    rng = np.random.default_rng(0)
    sequences = [rng.integers(0, 4, 12).tolist() for _ in range(30)]
    corpus = ss.Corpus.from_sequences(sequences)
    views = Views(np.array([kind]), np.array([mask]), 0)
    learned = np.ones(corpus.n_symbols, dtype=bool)
    tables = count_contexts(corpus.symbols, corpus.offsets, learned, views, 4)
    assert _expert_counts(tables, 0, 4) == _oracle(sequences, context_of)


def _inputs(experts, text, offsets, row, learned=None):
    """Return what experts say along each path of a sequence; without it if ``learned`` is given."""
    alone = learned is not None
    weights = no_weights(experts)
    scratch = make_scratch(experts, tree_depth(experts.tree), 100, learning=alone)
    begin, end = offsets[row], offsets[row + 1]
    if alone:
        survey(experts, scratch, text, begin, end, learned)
    rewind(experts, scratch)
    said = []
    for place in range(begin, end):
        prepare(experts, scratch, text, begin, place, False)
        n = list_path(experts.tree, scratch.said.nodes, text[place])
        if alone:
            recall_own(scratch, text, begin, place)
        ask(experts, weights, scratch, n, False, alone)
        said.append(scratch.said.inputs[:n].copy())
        take(experts, scratch, text, begin, place, False)
    return np.concatenate(said)


def test_a_case_is_looked_at_without_its_own_sequence():
    rng = np.random.default_rng(3)
    sequences = [rng.integers(0, 3, 14).tolist() for _ in range(12)]
    corpus = ss.Corpus.from_sequences(sequences)
    tree, leaf_of = grow_tree(np.bincount(corpus.symbols))
    text, offsets = leaves_of(corpus, leaf_of, False)
    views = Views(np.array([0, 0, 0, 1]), np.array([1, 3, 7, 1]), 0)
    everywhere = np.ones(len(text), dtype=bool)
    machines = machines_of([], leaf_of, False)

    def experts(learned):
        tables = count_contexts(text, offsets, learned, views, 3)
        return Experts(tree, views, 3, tables, np.array([1]), machines)

    elsewhere = everywhere.copy()
    elsewhere[offsets[4] : offsets[5]] = False
    expected = _inputs(experts(elsewhere), text, offsets, 4)
    found = _inputs(experts(everywhere), text, offsets, 4, everywhere)
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(_inputs(experts(everywhere), text, offsets, 4), expected)


def test_a_place_is_told_by_its_last_two_symbols_and_the_run_so_far():
    text = np.array([2, 0, 1, 1, 2] + [1] * 20, dtype=np.int32)  # 0 separates
    tree, leaf_of = grow_tree(np.array([3, 2, 1]))
    views = Views(np.array([0]), np.array([1]), 0)
    counts = count_contexts(text, np.array([0, 25]), np.ones(25, dtype=bool), views, 3)
    experts = Experts(tree, views, 1, counts, np.array([0]), machines_of([], leaf_of, False))
    scratch = make_scratch(experts, tree_depth(tree), 25)
    rewind(experts, scratch)
    found = []
    for place in range(25):
        prepare(experts, scratch, text, 0, place, False)
        found.append(scratch.said.rows.copy())
        take(experts, scratch, text, 0, place, False)
    last, before, run = np.array(found).T
    nobody = 3
    assert last.tolist() == [nobody, *text[:-1]]
    assert (before - 4).tolist() == [nobody, nobody, *text[:-2]]
    assert (run - 8).tolist() == [0, 1, *np.minimum(np.arange(23), 15)]
    assert np.max(found) < n_places(3)


def test_passages_shared_by_pieces_of_a_text_are_learned_once():
    text = np.random.default_rng(0).integers(0, 5, 60).astype(np.int32)
    pieces = np.concatenate([text[:40], text[20:60], text[10:30]])
    fresh = first_times(pieces, np.array([0, 40, 80, 100]), width=8)
    assert fresh[:40].all()
    assert not fresh[40:60].any()  # text[20:40] again
    assert fresh[60:80].all()
    assert not fresh[80:].any()


def test_automata_are_used_where_they_know_more():
    # What comes depends on the parity of all a's so far: no n-gram can count that.
    rng = np.random.default_rng(0)

    def draw():
        odd, symbols = False, []
        for _ in range(40):
            if rng.random() < 0.5:
                odd = not odd
                symbols.append("a")
            else:
                symbols.append("b" if odd else "c")
        return symbols

    train, test = [draw() for _ in range(300)], [draw() for _ in range(50)]
    with_automata = ss.ContextMixture(order=4, random_state=0).fit(train)
    without = ss.ContextMixture(order=4, automata="none", random_state=0).fit(train)
    assert with_automata.model_.n_machines > 0
    assert without.model_.n_machines == 0
    assert with_automata.score(test) > without.score(test) + 1.0


def test_automata_are_tried_on_sequences_that_they_did_not_learn_from(monkeypatch):
    learned, tried = [], []
    weigh = mixture_learner._weights

    def learn(corpus):
        learned.extend(symbol for (symbol,) in corpus)
        return []

    def watched(experts, weights, text, order, settings, *, heard):
        if heard:
            tried.extend(order.tolist())
        return weigh(experts, weights, text, order, settings, heard=heard)

    monkeypatch.setattr(mixture_learner, "_weights", watched)
    automata = mixture_learner.Automata(learn, lambda models, corpus: models)
    settings = mixture_learner.MixtureSettings(2)
    corpus, rng = ss.Corpus.from_sequences([[i] for i in range(20)]), np.random.default_rng(0)
    mixture_learner.learn_mixture(corpus, ends=True, settings=settings, automata=automata, rng=rng)
    assert len(tried) == 4
    assert sorted(learned + tried) == list(range(20))


def test_thousands_of_symbols_and_long_contexts():
    rng = np.random.default_rng(0)
    sequences = [rng.integers(0, 6000, 8).tolist() for _ in range(200)] * 2
    est = ss.ContextMixture(order=7, automata="none", random_state=0).fit(sequences)
    row = est.next_distribution([sequences[0][:6]])[0]
    assert abs(row.sum() - 1.0) < 1e-9
    assert est.predict_next([sequences[0][:6]])[0][0][0] == sequences[0][6]


def test_one_symbol_without_ends_is_certain():
    est = ss.ContextMixture(order=3, ends=False, automata="none", random_state=0).fit(["aaaa"])
    assert est.log_proba(["aa"])[0] == 0.0
    assert est.predict_next([""]) == [[("a", 1.0)]]


def test_samples_end_and_repeat_by_seed():
    est = ss.ContextMixture(order=3, automata="none", random_state=0).fit(CORPUS)
    drawn = est.sample(5, random_state=7)
    assert drawn == est.sample(5, random_state=7)
    assert drawn != est.sample(5, random_state=8)
    endless = ss.ContextMixture(order=3, ends=False, automata="none", random_state=0).fit(CORPUS)
    with pytest.raises(InvalidParameter, match="length"):
        endless.sample(1)
    assert len(endless.sample(1, length=6, random_state=0)[0]) == 6


def _stored():
    return ss.ContextMixture(order=3, random_state=0).fit(CORPUS).model_.to_stored()


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("table_inside", lambda array: array * 0),
        ("table_keys", lambda array: array[::-1]),
        ("table_directory", lambda array: array + np.uint32(1)),
        ("table_shifts", lambda array: array - 30),
        ("table_key_starts", lambda array: array + 1),
        ("recent", lambda array: array + 99),
        ("kind", lambda array: array + 7),
        ("mask", lambda array: -array - 1),
        ("split", lambda array: array + np.int32(1)),
        ("leaf_of", lambda array: array * 0),
        ("machine_n_states", lambda array: np.append(array, array.dtype.type(1))),
        ("weight_by_node", lambda array: array[:-1]),
        ("weight_corrections", lambda array: array * np.nan),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, spoil):
    stored = _stored()
    spoilt = {**stored.arrays, name: spoil(stored.arrays[name])}
    with pytest.raises(InvalidModel, match="must"):
        ContextMixtureModel.from_stored(Stored(stored.kind, spoilt, stored.meta))
