"""Transliterators among processes, with symbols that folds lack, and with more than fits."""

import numpy as np
import pytest

import sigmastar as ss
from fresh import in_fresh_process, mapped
from sigmastar.core.errors import TooLarge
from sigmastar.core.model_files import read_stored, write_stored
from sigmastar.corpus.alphabet_json import alphabet_to_json
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments import lattices
from sigmastar.transducers.transliteration import combine
from sigmastar.transducers.transliteration.recipe import Recipe

PAIRS = [("max", "макс"), ("anna", "анна"), ("axa", "акса"), ("nana", "нана")] * 15
INPUTS = [x for x, _ in PAIRS]


def _learn_and_apply(method):
    return ss.Transliterator(method, n_folds=2, n_states=2).fit(PAIRS).predict(INPUTS)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_may_fork_after_transliterators_were_used(monkeypatch):
    monkeypatch.setenv("SIGMASTAR_THREADS", "2")
    methods = ["combined", "em"]
    before = [_learn_and_apply(method) for method in methods]
    assert in_fresh_process(mapped, "fork", _learn_and_apply, methods) == before


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SIGMASTAR_THREADS", threads)
        found.append(ss.Transliterator(n_folds=2, n_states=2).fit(PAIRS).n_best(INPUTS, 3))
    assert found[0] == found[1]


@pytest.mark.parametrize("scorer", ["em", "learnfst"])
def test_a_symbol_may_occur_in_one_fold_only(scorer):
    pairs = [*PAIRS[:30], ("zoo", "зуу")]
    learner = ss.Transliterator(scorers=(scorer,), n_folds=2, n_states=1, max_iter=2).fit(pairs)
    assert learner.predict(["anna", "zoo"])[0] == "анна"


def test_of_many_pairs_one_fold_fits_the_combination(monkeypatch):
    parts = []
    train = combine.train_parts
    monkeypatch.setattr(combine, "MANY_PAIRS", 50)
    monkeypatch.setattr(combine, "train_parts", lambda *a, **k: parts.append(1) or train(*a, **k))
    learner = ss.Transliterator(n_folds=4, n_states=2, scorers=("short", "spectral")).fit(PAIRS)
    assert learner.predict(["xana"]) == ["ксана"]
    assert len(parts) == 1


@pytest.mark.parametrize(
    ("n_pairs", "expected"),
    [(1, (6, 4)), (3600, (6, 4)), (8000, (6, 2)), (25_000, (4, 1)), (500_000, (1, 1))],
)
def test_the_more_words_there_are_the_less_often_each_is_shown(n_pairs, expected):
    training = Recipe().training(n_pairs, 4)
    assert (training.n_epochs, training.n_models) == expected


def test_only_inputs_that_are_read_must_be_proper():
    table, alphabet = [[0, 1], [-1, -1]], ss.Alphabet("ab")
    halves = Transducer([1.0], [[[0.5]], [[0.5]]], [1.0], table, alphabet, alphabet)
    assert not halves.is_proper
    assert halves.is_proper_for(halves.reads)
    thirds = Transducer([1.0], [[[0.3]], [[0.5]]], [1.0], table, alphabet, alphabet)
    assert not thirds.is_proper_for(thirds.reads)


def test_lattices_have_at_most_as_many_nodes_as_numbers(monkeypatch):
    corpus = ss.PairCorpus.from_pairs([("ab", "xy"), ("ab", "xy")])
    units = lattices.find_units(corpus, lattices.allowed_sizes([(1, 1)]))
    monkeypatch.setattr(lattices, "MOST_NODES", 6)
    assert lattices.build_lattices(corpus, units).node_offsets[-1] == 6
    monkeypatch.setattr(lattices, "MOST_NODES", 5)
    with pytest.raises(TooLarge, match=r"at most 5 nodes.*these have 6.*fewer pairs"):
        lattices.build_lattices(corpus, units)
    with pytest.raises(TooLarge, match="at most 5 nodes"):
        lattices.chain_lattices(np.zeros(4, np.int32), np.array([0, 2, 4]))


def test_alignments_that_need_too_much_memory_are_refused(monkeypatch):
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "10")
    with pytest.raises(TooLarge, match="laying out all alignments needs"):
        ss.Transliterator("joint-ngram").fit(PAIRS)


def test_a_decoder_smaller_than_its_alphabet_is_refused(tmp_path):
    path = tmp_path / "names.sigma"
    ss.Transliterator("em", n_states=1, max_iter=2).fit(PAIRS[:8]).save(path)
    stored = read_stored(path)
    stored.meta["source_alphabet"] = alphabet_to_json(ss.Alphabet("amnxyz"))
    write_stored(path, stored)
    with pytest.raises(ss.errors.FileFormatError, match="must read 6 symbols"):
        ss.load(path)


@pytest.mark.parametrize("length", [200, 400])
def test_a_pair_of_very_many_units_is_learned(length):
    """Its units are more than a small table has room for; a full one would be searched for ever."""
    strange = ([f"s{i}" for i in range(length)], [f"t{i}" for i in range(length)])
    pairs = [*((list(x), list(y)) for x, y in PAIRS[:6]), strange]
    learner = ss.Transliterator("joint-ngram", order=2, align_iter=1).fit(pairs)
    assert learner.predict([list("anna")]) == [list("анна")]
