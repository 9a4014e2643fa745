"""Joint models over units and the transliterator built from them."""

import inspect
from functools import cache
from itertools import product

import numba
import numpy as np
import pytest
from sklearn.base import clone

import sigmastar as ss
from sigmastar.core.errors import FileFormatError, InvalidData, InvalidParameter, UnknownSymbol
from sigmastar.core.jit import Kernel
from sigmastar.transducers.transliteration.alignment import align_pairs
from sigmastar.transducers.transliteration.candidates import gather_candidates, unit_options
from sigmastar.transducers.transliteration.joint_ngram import learn_ngram
from sigmastar.transducers.transliteration.joint_spectral import learn_joint_spectral
from sigmastar.transducers.transliteration.rehearsal import rehearse, rehearsed

WRITES = {"a": "а", "b": "б", "c": "к", "h": "х", "k": "к", "n": "н", "o": "о", "s": "с", "x": "кс"}


def names(n, seed=0):
    """Draw names spelled by rules: ch is one letter, x are two, a final h is mute."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(n):
        x = "".join(rng.choice(list("abchknosx"), size=rng.integers(3, 8)))
        y = "".join(
            "" if (c == "h" and i == len(x) - 1 and x[i - 1 : i] != "c") else WRITES[c]
            for i, c in enumerate(x)
        )
        pairs.append((x, y.replace("кх", "ч")))
    return pairs


TRAIN, TEST = names(600), names(80, seed=1)


def called_with(monkeypatch, kernels, work):
    """Return the types that kernels are called with while something works."""
    types = {kernel: set() for kernel in kernels}
    call = Kernel.__call__

    def noted(kernel, *arguments):
        if kernel in types:
            types[kernel].add(tuple(map(numba.typeof, arguments)))
        return call(kernel, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Kernel, "__call__", noted)
        work()
    return types


def test_what_is_rehearsed_are_the_searches_that_are_used(monkeypatch):
    def use():
        ss.Transliterator(scorers=("neural",)).fit(TRAIN[:20]).predict(["ana"])

    _, *kernels = rehearsed(networks=True)
    used = called_with(monkeypatch, kernels, use)
    assert called_with(monkeypatch, kernels, rehearse) == used
    assert all(map(len, used.values()))


def sequences(seed=0, n=40, n_units=4):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 6, size=n)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return rng.integers(n_units, size=offsets[-1]).astype(np.int32), offsets


@pytest.mark.parametrize("order", [1, 2, 4])
def test_ngram_probabilities_sum_to_one_in_every_context(order):
    units, offsets = sequences()
    model = learn_ngram(units, offsets, n_units=4, order=order)
    for context in [(), (0,), (1, 2), (3, 3, 1), (2, 2, 2, 2)]:
        whole = [(*context, u) for u in range(4)] + [context]
        flat = np.array([u for s in whole for u in s], dtype=np.int32)
        bounds = np.concatenate([[0], np.cumsum([len(s) for s in whole])]).astype(np.int64)
        ended = np.exp(model.log_proba(flat, bounds))
        # P(context, end) + Σ_u P(context u …): divide each by the probability of its own end.
        steps = [log_step(model, context, u) for u in range(5)]
        assert np.exp(steps).sum() == pytest.approx(1.0)
        assert ended[-1] == pytest.approx(np.exp(prefix(model, context) + steps[4]))


def log_step(model, context, unit):
    """Return log p(unit | context), unit 4 being the end, by walking the back-off automaton."""
    state = walk(model, context)[1]
    return read(model, state, unit + 1 if unit == 4 else unit)[0]


def prefix(model, context):
    return walk(model, context)[0]


def walk(model, context):
    total, state = 0.0, read(model, 0, 4)[1]
    for unit in context:
        gain, state = read(model, state, unit)
        total += gain
    return total, state


def read(model, state, unit):
    children = {(p, u): i for i, (p, u) in enumerate(zip(model.parent, model.unit, strict=True))}
    total = 0.0
    while (state, unit) not in children or children[state, unit] == 0:
        total += model.back_off[state]
        state = model.suffix[state]
    node = children[state, unit]
    return total + model.log_prob[node], model.landing[node]


def test_a_wide_joint_beam_finds_the_best_outputs_summed_over_alignments():
    corpus = ss.PairCorpus.from_pairs([("ab", "xyx"), ("ba", "yx"), ("aab", "xxy"), ("b", "y")] * 2)
    aligned = align_pairs(corpus, ((1, 0), (1, 1), (1, 2)))
    model = learn_ngram(aligned.path, aligned.offsets, n_units=len(aligned.units), order=3)
    options = unit_options(aligned.units, aligned.weights, model)
    found = gather_candidates(
        corpus.source[:1],
        model,
        aligned.units,
        options,
        corpus.target.alphabet,
        n_best=4,
        beam=500,
        gap=1e9,
    )
    inputs, outputs = aligned.units.inputs[:, 0], aligned.units.outputs
    totals = {}
    for path in product(range(len(aligned.units)), repeat=2):
        if tuple(inputs[list(path)]) == tuple(corpus.source.codes(0)):
            written = tuple(int(c) for u in path for c in outputs[u] if c >= 0)
            score = model.log_proba(np.array(path, np.int32), np.array([0, 2]))[0]
            totals[written] = np.logaddexp(totals.get(written, -np.inf), score)
    best = sorted(totals.values(), reverse=True)[: len(found)]
    np.testing.assert_allclose(found.log_prob, best, rtol=1e-10)
    assert tuple(found.target.codes(0)) == max(totals, key=lambda y: totals[y])


def noisy_pairs(n, seed):
    """Draw pairs whose outputs are anybody's guess: every letter has many units, contexts many."""
    rng = np.random.default_rng(seed)
    return [
        ("".join(rng.choice(list("abc"), n_in)), "".join(rng.choice(list("xyz"), n_out)))
        for n_in, n_out in rng.integers(1, 5, size=(n, 2))
    ]


def every_path(word, units):
    """Yield all sequences of units that read a word."""
    if not word:
        yield ()
    for unit, read in enumerate(units.inputs):
        read = tuple(read[read >= 0])
        if word[: len(read)] == read:
            for rest in every_path(word[len(read) :], units):
                yield (unit, *rest)


@pytest.mark.compiled
def test_a_search_without_limits_finds_every_output_whatever_inputs_are_neighbours():
    corpus = ss.PairCorpus.from_pairs(noisy_pairs(80, 0))
    aligned = align_pairs(corpus, ((1, 0), (1, 1), (1, 2), (2, 1)))
    model = learn_ngram(aligned.path, aligned.offsets, n_units=len(aligned.units), order=3)
    options = unit_options(aligned.units, aligned.weights, model)
    source = ss.Corpus.from_sequences(
        ["abc", "ab", "abc", "aba", "a", "cb", "abb"], alphabet=corpus.source.alphabet
    )
    alphabet, room = corpus.target.alphabet, {"n_best": 1000, "beam": 5000, "gap": 1e9}
    found = gather_candidates(source, model, aligned.units, options, alphabet, **room)
    for row in range(len(source)):
        totals = {}
        for path in every_path(tuple(source.codes(row).tolist()), aligned.units):
            outputs = aligned.units.outputs[list(path)]
            written = tuple(outputs[outputs >= 0].tolist())
            score = model.log_proba(np.array(path, np.int32), np.array([0, len(path)]))[0]
            totals[written] = np.logaddexp(totals.get(written, -np.inf), score)
        own = np.flatnonzero(found.owner == row)
        outputs = {tuple(found.target.codes(c).tolist()): found.log_prob[c] for c in own}
        assert outputs == pytest.approx(totals, rel=1e-10)


@pytest.mark.compiled
def test_a_narrow_search_says_of_each_input_what_it_says_of_it_alone():
    corpus = ss.PairCorpus.from_pairs(noisy_pairs(200, 1))
    aligned = align_pairs(corpus, ((1, 0), (1, 1), (1, 2)))
    model = learn_ngram(aligned.path, aligned.offsets, n_units=len(aligned.units), order=4)
    options = unit_options(aligned.units, aligned.weights, model)

    def search(source):
        alphabet, room = corpus.target.alphabet, {"n_best": 3, "beam": 4, "gap": 2.0}
        return gather_candidates(source, model, aligned.units, options, alphabet, **room)

    found = search(corpus.source)
    for row in range(len(corpus)):
        alone, own = search(corpus.source[row : row + 1]), found.owner == row
        np.testing.assert_array_equal(alone.log_prob, found.log_prob[own])
        np.testing.assert_array_equal(alone.target.lengths, found.target.lengths[own])


def test_the_spectral_automaton_of_one_sequence_repeats_it():
    units = np.array([0, 1, 2] * 10, dtype=np.int32)
    offsets = np.arange(0, 31, 3).astype(np.int64)
    model = learn_joint_spectral(units, offsets, n_units=3, n_states=5)
    assert model.log_proba(units[:3], offsets[:2])[0] == pytest.approx(0.0, abs=1e-6)
    assert model.log_proba(units[1:4], offsets[:2])[0] < -5


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("method", "least"),
    [
        ("combined", 0.9),
        ("joint-ngram", 0.9),
        ("joint-spectral", 0.8),
        ("em", 0.8),
        ("learnfst", 0.7),
    ],
)
def test_every_method_learns_spelling_rules(method, least):
    judges = ("reverse", "short", "target", "spectral", "discriminative")
    learner = ss.Transliterator(method, n_folds=2, scorers=judges).fit(TRAIN)
    assert learner.score(TEST) >= least


@pytest.mark.compiled
@pytest.mark.parametrize("method", ["combined", "em"])
def test_a_saved_transliterator_says_the_same(tmp_path, method):
    learner = ss.Transliterator(method, n_folds=2, scorers=("reverse", "spectral", "em"))
    learner.fit(TRAIN[:100])
    learner.model_.save(tmp_path / "t.sigma")
    again = ss.load(tmp_path / "t.sigma").apply([x for x, _ in TEST], 3)[0]
    for one, two in zip(learner.n_best([x for x, _ in TEST], 3), again, strict=True):
        assert [output for output, _ in one] == [output for output, _ in two]
        np.testing.assert_allclose([s for _, s in one], [s for _, s in two], rtol=1e-5)


def test_outputs_can_be_drawn_where_there_is_a_transducer_to_draw_from():
    pairs = [("ab", "xy"), ("ba", "yx"), ("aab", "xxy"), ("bb", "yy")] * 5
    names = ss.Transliterator("em", n_states=1, source_form="given", target_form="given").fit(pairs)
    assert names.sample(["abba", "", "ab"], draws=9, random_state=0) == ["xyyx", "", "xy"]
    assert names.report_["n_empty"] == 1
    found, _ = names.model_.apply(["ab"], 2, draws=50, random_state=0)
    assert found[0][0][0] == "xy"
    assert np.exp([share for _, share in found[0]]).sum() <= 1 + 1e-12
    ngram = ss.Transliterator("joint-ngram", source_form="given", target_form="given").fit(pairs)
    with pytest.raises(InvalidParameter, match="'joint-ngram'"):
        ngram.sample(["ab"])


def test_a_file_without_its_search_model_is_refused(tmp_path):
    from sigmastar.core.model_files import Stored, write_stored

    model = ss.Transliterator("joint-ngram").fit(TRAIN[:50]).model_.to_stored()
    kept = {k: v for k, v in model.arrays.items() if not k.startswith("ngram:")}
    write_stored(tmp_path / "t.sigma", Stored(model.kind, kept, model.meta))
    with pytest.raises(FileFormatError, match="lacks the array"):
        ss.load(tmp_path / "t.sigma")


def test_odd_pairs_are_counted_and_left_out():
    odd = [("", "а"), ("a", ""), ("a", "абабабаб")]
    learner = ss.Transliterator("joint-ngram").fit(TRAIN[:100] + odd)
    assert learner.info_["n_empty"] == 2
    assert learner.info_["n_unalignable"] == 1
    assert learner.predict(["nab"]) == ["наб"]


@pytest.mark.compiled
def test_odd_inputs_are_counted_and_never_fatal_unless_asked():
    learner = ss.Transliterator("joint-ngram").fit(TRAIN[:200])
    assert learner.predict(["nab", "", "nqab", "q"]) == ["наб", "", "наб", ""]
    assert learner.report_ == {
        "n_inputs": 4,
        "n_empty": 1,
        "n_with_unknown": 2,
        "n_without_output": 2,
    }
    learner.set_params(unknown="error")
    with pytest.raises(UnknownSymbol, match="'q'"):
        learner.predict(["nqab"])


@pytest.mark.parametrize("method", ["joint-ngram", "combined", "em"])
def test_nothing_is_answered_with_nothing(method):
    learner = ss.Transliterator(method, n_folds=2, scorers=("reverse",)).fit(TRAIN[:50])
    assert learner.predict([]) == []
    assert learner.predict([""]) == [""]
    assert learner.model_.apply([], 3)[0] == []


@pytest.mark.compiled
def test_many_inputs_are_answered_in_their_order():
    learner = ss.Transliterator("joint-ngram").fit(names(60))
    words = [word for word, _ in names(60)]
    alone = learner.predict(words)
    assert learner.predict(words * 20) == alone * 20  # more than are searched together


def test_n_best_outputs_are_distinct_and_sorted():
    learner = ss.Transliterator("combined", n_folds=2).fit(TRAIN[:80])
    for found in learner.n_best([x for x, _ in TEST[:20]], 5):
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True)
        assert len({output for output, _ in found}) == len(found)


def test_symbols_may_be_anything_and_units_larger():
    pairs = [(["p", "h", "o"], ["F", "OW"]), (["o"], ["OW"]), (list("pop"), ["P", "OW", "P"])]
    learner = ss.Transliterator("joint-ngram", units=((1, 0), (1, 1), (2, 1))).fit(pairs * 5)
    assert learner.predict([["o", "p", "h"]]) == [["OW", "F"]]


@pytest.mark.compiled
def test_the_same_seed_gives_the_same_model():
    one, two = (ss.Transliterator(n_folds=2, random_state=3).fit(TRAIN[:60]) for _ in range(2))
    assert one.n_best(["nabax"], 4) == two.n_best(["nabax"], 4)


def test_parameters_are_stored_and_ruled():
    learner = ss.Transliterator(order=4, scorers=("target",))
    signature = inspect.signature(ss.Transliterator.__init__).parameters
    assert sorted(learner.get_params()) == sorted(name for name in signature if name != "self")
    assert clone(learner).get_params() == learner.get_params()
    assert set(ss.Transliterator._rules) <= set(learner.get_params())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "magic"}, "method must be"),
        ({"units": ((0, 1),)}, "must read something"),
        ({"scorers": ("psychic",)}, "each of scorers"),
        ({"order": 0}, "order must be"),
        ({"method": "em", "units": ((2, 1), (1, 1))}, "read one symbol each"),
    ],
)
def test_parameters_that_break_their_rule_are_refused(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        ss.Transliterator(**parameters).fit(TRAIN[:20])


def test_pairs_of_which_none_can_be_aligned_are_refused():
    with pytest.raises(InvalidData, match="Allow larger units"):
        ss.Transliterator("joint-ngram").fit([("a", "ббббб")])
    with pytest.raises(InvalidData, match="empty side"):
        ss.Transliterator().fit([("", "б")])


@cache
def with_an_automaton():
    return ss.Transliterator(n_folds=2, scorers=("spectral",)).fit(TRAIN[:60])


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["unit_keys", "unit_weights", "spectral:operators"])
def test_parts_that_do_not_fit_each_other_are_refused(tmp_path, name):
    from sigmastar.core.model_files import Stored, write_stored

    model = with_an_automaton().model_.to_stored()
    changed = model.arrays | {name: model.arrays[name][:-1] if "key" not in name else
                              model.arrays[name] + 1000 * model.meta["base"] ** 3}  # fmt: skip
    write_stored(tmp_path / "t.sigma", Stored(model.kind, changed, model.meta))
    with pytest.raises(FileFormatError, match="fit"):
        ss.load(tmp_path / "t.sigma")
