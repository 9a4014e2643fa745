"""EM for transducers and for units, over single paths and over all alignments."""

from itertools import product

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData
from sigmastar.transducers import inference as ask
from sigmastar.transducers.kernels.lattice import Sizes
from sigmastar.transducers.kernels.operators import Machine
from sigmastar.transducers.learn import em_restarts
from sigmastar.transducers.learn.em import chain_of_pairs, em_transducer, random_transducer
from sigmastar.transducers.learn.unit_em import align_best, learn_unit_weights
from sigmastar.transducers.moments.lattices import (
    allowed_sizes,
    build_lattices,
    expected_trigrams,
    find_units,
)
from sigmastar.transducers.transliteration.chunk_learning import (
    align_chunks,
    learn_chunk_transducer,
    spectral_chunks,
)
from transducers.oracles import path_sum, random_parameters

SIZES = ((1, 0), (1, 1), (1, 2), (2, 1))
NAMES = [("abc", "xyz"), ("ab", "xy"), ("cab", "zxyx"), ("bb", "y"), ("abca", "xzz"), ("ca", "zx")]


def all_alignments(x, y, sizes):
    """List every way to cut a pair into units."""
    if not x and not y:
        return [[]]
    found = []
    for p, q in sizes:
        if p <= len(x) and q <= len(y):
            rest = all_alignments(x[p:], y[q:], sizes)
            found += [[(x[:p], y[:q]), *tail] for tail in rest]
    return found


def spelled(units, corpus):
    """Give each unit as a pair of strings."""
    n_inputs = units.allowed.shape[0] - 1
    source, target = corpus.source.alphabet, corpus.target.alphabet
    return [
        (
            "".join(source[c] for c in row[:n_inputs] if c >= 0),
            "".join(target[c] for c in row[n_inputs:] if c >= 0),
        )
        for row in units.digits()
    ]


def test_the_bound_of_the_units_of_a_pair_counts_every_place_to_cut_one_out():
    lengths = np.array(list(product(range(5), repeat=2)))
    for sizes in (SIZES, ((1, 1),), ((2, 0), (3, 2))):
        bounds = Sizes.of(allowed_sizes(sizes)).most_units(*lengths.T)
        for (n, t), bound in zip(lengths.tolist(), bounds.tolist(), strict=True):
            x, y = "abcd"[:n], "wxyz"[:t]  # all symbols differ, so all pieces do
            cut = {
                (x[i : i + p], y[j : j + q])
                for p, q in sizes
                for i in range(n - p + 1)
                for j in range(t - q + 1)
            }
            assert bound == len(cut)


def test_lattices_hold_every_alignment_and_nothing_else():
    corpus = ss.PairCorpus.from_pairs(NAMES)
    units = find_units(corpus, allowed_sizes(SIZES))
    lattices = build_lattices(corpus, units)
    for row, (x, y) in enumerate(NAMES):
        low, high = lattices.arc_offsets[row : row + 2]
        first, last = lattices.node_offsets[row : row + 2]
        paths = np.zeros(last - first)
        paths[0] = 1
        for origin, goal, _ in lattices.arcs[low:high]:
            paths[goal - first] += paths[origin - first]
        assert paths[-1] == len(all_alignments(x, y, SIZES))


def test_expected_trigrams_are_averages_over_alignments():
    corpus = ss.PairCorpus.from_pairs(NAMES)
    units = find_units(corpus, allowed_sizes(SIZES))
    weights = np.random.default_rng(0).uniform(0.1, 1.0, len(units))
    names = spelled(units, corpus)
    weight_of = dict(zip(names, weights, strict=True))
    expected = {}
    for x, y in NAMES:
        paths = all_alignments(x, y, SIZES)
        mass = np.array([np.prod([weight_of[unit] for unit in path]) for path in paths])
        for path, share in zip(paths, mass / mass.sum(), strict=True):
            for triple in zip(path, path[1:], path[2:], strict=False):
                expected[triple] = expected.get(triple, 0.0) + share
    trigrams, masses = expected_trigrams(build_lattices(corpus, units), weights)
    found = {tuple(names[u] for u in t): m for t, m in zip(trigrams.tolist(), masses, strict=True)}
    assert found.keys() == expected.keys()
    for triple, mass in found.items():
        assert mass == pytest.approx(expected[triple])


def test_trigrams_weighed_by_a_machine_are_averages_over_alignments():
    corpus = ss.PairCorpus.from_pairs(NAMES)
    units = find_units(corpus, allowed_sizes(SIZES))
    names = spelled(units, corpus)
    rng = np.random.default_rng(1)
    operators, ends = rng.uniform(0.1, 1.0, (len(units), 2, 2)), rng.uniform(0.1, 1.0, (2, 2))
    truth = {}
    for x, y in NAMES:
        paths = all_alignments(x, y, SIZES)
        masses = []
        for path in paths:
            state = ends[0]
            for unit in path:
                state = state @ operators[names.index(unit)]
            masses.append(state @ ends[1])
        for path, mass in zip(paths, np.array(masses) / sum(masses), strict=True):
            for three in zip(path, path[1:], path[2:], strict=False):
                truth[three] = truth.get(three, 0.0) + mass
    lattices = build_lattices(corpus, units)
    trigrams, masses = expected_trigrams(lattices, Machine(ends[0], operators, ends[1]))
    found = {tuple(names[u] for u in row): mass for row, mass in zip(trigrams, masses, strict=True)}
    assert found == pytest.approx(truth)


def test_negative_weights_of_a_machine_make_no_negative_trigrams():
    corpus = ss.PairCorpus.from_pairs(NAMES)
    units = find_units(corpus, allowed_sizes(SIZES))
    lattices = build_lattices(corpus, units)
    rng = np.random.default_rng(0)
    machine = Machine(np.ones(2), rng.uniform(-0.3, 1.0, (len(units), 2, 2)), np.ones(2))
    sums = np.zeros(lattices.n_pairs)
    for row in range(lattices.n_pairs):
        _, masses = expected_trigrams(lattices.part(row, row + 1), machine)
        assert (masses > 0).all()
        sums[row] = masses.sum()
    lengths = [[max(len(path) - 2, 0) for path in all_alignments(x, y, SIZES)] for x, y in NAMES]
    # A pair whose weights sum to nothing positive does not count; others keep their trigrams.
    counted = sums > 0
    assert counted.sum() >= 3
    assert all(
        min(n) <= s <= max(n) + 1e-9 for n, s, c in zip(lengths, sums, counted, strict=True) if c
    )


def test_alignments_weighed_by_the_states_find_the_letters_that_belong_together():
    rules = dict(zip("abcdexyz", ("а", "б", "", "д", "", "кс", "ыу", "з"), strict=True))
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(rules), size=rng.integers(3, 8))) for _ in range(80)]
    corpus = ss.PairCorpus.from_pairs([(w, "".join(rules[c] for c in w)) for w in words])
    aligned = align_chunks(corpus, ((1, 0), (1, 1), (1, 2)), max_iter=0)
    truth = [corpus.target.codes(row).tolist() for row in range(len(corpus))]

    def right(learned):
        _, found = learned.model.n_best(corpus.source, n_best=1)
        return np.mean([bool(f) and f[0] == t for f, t in zip(found, truth, strict=True)])

    turned = spectral_chunks(aligned, n_states=2, state_iter=4)
    assert right(spectral_chunks(aligned, n_states=2)) < 0.5
    assert right(turned) > 0.9
    changes = turned.info["alignment_change"]
    assert changes[-1] < 0.2 * changes[0]


def test_unit_em_never_lowers_the_likelihood_and_finds_the_best_path():
    corpus = ss.PairCorpus.from_pairs(NAMES * 3)
    units = find_units(corpus, allowed_sizes(SIZES))
    lattices = build_lattices(corpus, units)
    learned = learn_unit_weights(lattices, len(units), max_iter=15, tol=-1.0)
    assert (np.diff(learned.info["log_likelihood"]) >= -1e-12).all()
    assert learned.model.sum() == pytest.approx(1.0)
    path, offsets = align_best(lattices, learned.model)
    assert len(path) == offsets[-1]
    weight_of = dict(zip(spelled(units, corpus), learned.model, strict=True))
    names = spelled(units, corpus)
    for row, (x, y) in enumerate(NAMES):
        best = max(np.prod([weight_of[u] for u in p]) for p in all_alignments(x, y, SIZES))
        mine = np.prod([weight_of[names[u]] for u in path[offsets[row] : offsets[row + 1]]])
        assert mine == pytest.approx(best)


def sampled_pairs(truth, n=300, length=5):
    rng = np.random.default_rng(0)
    source = ss.Corpus.from_sequences(rng.integers(2, size=(n, length)).tolist())
    drawn = ask.sample_outputs(truth.to_transducer(), source, random_state=1)
    return [(list(x), y.tolist()) for x, y in zip(source, drawn, strict=True)]


@pytest.mark.parametrize("emission", ["arc", "state"])
def test_no_step_of_em_lowers_the_likelihood(emission):
    pairs = sampled_pairs(random_parameters(2, 3, 2, 3))
    estimator = ss.EMTransducer(2, emission=emission, max_iter=40, tol=0.0, random_state=0)
    estimator.fit(pairs)
    assert (np.diff(estimator.info_["log_likelihood"]) >= -1e-10).all()
    assert estimator.model_.is_proper


def expected_by_enumeration(model, pairs):
    """Give expected starts, and uses of (input, output, from, to), over all state sequences."""
    n = model.n_states
    starts = np.zeros(n)
    uses = np.zeros((*model.table.shape, n, n))
    for x, y in pairs:
        weights = {}
        for path in product(range(n), repeat=len(x) + 1):
            arcs = [*zip(x, y, path[:-1], path[1:], strict=True)]
            steps = [model.operator(a, b)[i, j] for a, b, i, j in arcs]
            weights[path] = model.initial[path[0]] * np.prod(steps), arcs
        mass = sum(weight for weight, _ in weights.values())
        for path, (weight, arcs) in weights.items():
            starts[path[0]] += weight / mass
            for arc in arcs:
                uses[arc] += weight / mass
    return starts, uses


@pytest.mark.parametrize("n_pairs", [1, 3])
@pytest.mark.parametrize("prior", [0.0, 0.3])
@pytest.mark.parametrize("emission", ["arc", "state"])
def test_a_step_of_em_takes_the_shares_of_all_paths(emission, prior, n_pairs):
    """No pair has the last input, and no path the last state: both stay where they are."""
    rng = np.random.default_rng(0)
    transition = rng.dirichlet(np.ones(3), (3, 3))
    transition[:, :2, :2] /= transition[:, :2, :2].sum(axis=2, keepdims=True)
    transition[:, :2, 2] = 0
    truth = ss.ParametricTransducer(
        [0.4, 0.6, 0.0],
        transition,
        rng.dirichlet(np.ones(2), 3),
        ss.Alphabet(range(3)),
        ss.Alphabet(range(2)),
    ).to_transducer()
    pairs = [((1,), (1,)), ((0, 1, 1), (0, 1, 0)), ((0, 0), (1, 0))][:n_pairs]
    corpus = ss.PairCorpus(
        ss.Corpus.from_sequences([x for x, _ in pairs], alphabet=truth.input_alphabet),
        ss.Corpus.from_sequences([y for _, y in pairs], alphabet=truth.output_alphabet),
    )
    lattices = chain_of_pairs(corpus, truth.table)
    after = em_transducer(lattices, truth, emission=emission, max_iter=1, prior=prior).model
    starts, uses = expected_by_enumeration(truth, pairs)
    starts, uses = starts + prior, uses + prior
    np.testing.assert_allclose(after.initial, starts / starts.sum())
    for a, i in product(range(3), range(3)):
        own, writes = uses[a, :, i], uses[:, :, i].sum(axis=(0, 2))
        written = writes / writes.sum() if writes.sum() else np.full(2, 0.5)
        moved = own.sum(axis=0) / own.sum() if own.sum() else np.eye(3)[i]
        shares = written[:, None] * moved
        if emission == "arc":
            shares = own / own.sum() if own.sum() else np.eye(3)[i] / 2 + np.zeros((2, 1))
        found = [after.operator(a, b)[i] for b in range(2)]
        np.testing.assert_allclose(found, shares, atol=1e-12)


def test_pairs_that_use_an_operator_that_is_lacking_have_no_path():
    """They count as unreached, the others as if these were not there."""
    table = np.array([[0, 1], [2, -1]], np.int32)
    pairs = [("ab", "yx"), ("bb", "xy"), ("", ""), ("aab", "xyx")]  # nothing writes y for b
    corpus = ss.PairCorpus.from_pairs(pairs)
    alphabets = (corpus.source.alphabet, corpus.target.alphabet)
    start = random_transducer(table, 2, alphabets, random_state=0)
    some = em_transducer(chain_of_pairs(corpus, table), start, max_iter=3, tol=0.0)
    fine = corpus.take(np.array([0, 2, 3]))
    alone = em_transducer(chain_of_pairs(fine, table), start, max_iter=3, tol=0.0)
    assert (some.info["n_unreached"], alone.info["n_unreached"]) == (1, 0)
    assert some.info["log_likelihood"] == alone.info["log_likelihood"]
    np.testing.assert_array_equal(some.model.operators, alone.model.operators)


def test_random_transducers_are_proper_and_have_the_operators_of_their_table():
    alphabets = (ss.Alphabet("ab"), ss.Alphabet("xyz"))
    table = np.array([[3, 1, -1], [2, -1, 0]], np.int32)
    arcs = random_transducer(table, 2, alphabets, random_state=0)
    np.testing.assert_array_equal(arcs.table, table)
    assert arcs.is_proper
    table = np.array([[3, 1, 4], [2, 5, 0]], np.int32)
    model = random_transducer(table, 2, alphabets, emission="state", random_state=0)
    assert model.is_proper
    dense = model.dense()
    write, moves = dense.sum(axis=3), dense.sum(axis=1)
    np.testing.assert_allclose(write[0], write[1])  # outputs by states alone
    np.testing.assert_allclose(dense, write[:, :, :, None] * moves[:, None])


def test_a_step_of_unit_em_takes_the_shares_of_all_alignments():
    corpus = ss.PairCorpus.from_pairs(NAMES)
    units = find_units(corpus, allowed_sizes(SIZES))
    lattices = build_lattices(corpus, units)
    given = np.arange(1.0, len(units) + 1)
    learned = learn_unit_weights(lattices, len(units), max_iter=1, weights=given)
    weight_of = dict(zip(spelled(units, corpus), given / given.sum(), strict=True))
    expected, logs = dict.fromkeys(weight_of, 0.0), []
    for x, y in NAMES:
        paths = all_alignments(x, y, SIZES)
        weights = [np.prod([weight_of[unit] for unit in path]) for path in paths]
        logs.append(np.log(sum(weights)))
        for path, weight in zip(paths, weights, strict=True):
            for unit in path:
                expected[unit] += weight / sum(weights)
    counts = np.array([expected[unit] for unit in spelled(units, corpus)])
    np.testing.assert_allclose(learned.model, counts / counts.sum())
    np.testing.assert_allclose(learned.info["expected"], counts)
    assert learned.info["log_likelihood"] == [pytest.approx(np.mean(logs))]


def test_the_likelihood_that_em_reports_is_the_sum_over_states():
    truth = random_parameters(2, 3, 2, 3)
    pairs = sampled_pairs(truth, n=20, length=3)
    estimator = ss.EMTransducer(init=truth, emission="state", max_iter=1).fit(pairs)
    expected = np.mean([np.log(path_sum(truth, x, y)) for x, y in pairs])
    assert estimator.info_["log_likelihood"][0] == pytest.approx(expected)


@pytest.mark.compiled
def test_em_from_recovered_parameters_comes_near_the_truth():
    truth = random_parameters(2, 3, 2, 3)
    pairs = sampled_pairs(truth, n=3000)
    estimator = ss.EMTransducer(2, emission="state", init="recovered", tol=1e-6, max_iter=200)
    estimator.fit(pairs)
    bound = ss.EMTransducer(init=truth, emission="state", max_iter=1).fit(pairs)
    assert estimator.info_["log_likelihood"][-1] > bound.info_["log_likelihood"][0] - 1e-3


def test_of_several_starts_the_best_result_is_kept(monkeypatch):
    rng = np.random.default_rng(3)
    pairs = [
        (rng.integers(2, size=6).tolist(), rng.integers(3, size=6).tolist()) for _ in range(30)
    ]
    reached = []
    climb = em_restarts.em_transducer

    def watched(*given, **options):
        learned = climb(*given, **options)
        reached.append(learned.info["log_likelihood"][-1])
        return learned

    monkeypatch.setattr(em_restarts, "em_transducer", watched)
    fst = ss.EMTransducer(2, n_restarts=4, max_iter=8, tol=0, random_state=0).fit(pairs)
    assert len(set(reached)) == 4
    assert fst.info_["log_likelihood"][-1] == max(reached)


def test_em_refuses_to_start_from_negative_weights():
    model = random_parameters(2, 3, 2, 0).to_transducer()
    wild = ss.Transducer.from_dense(
        model.initial, -model.dense(), model.final, model.input_alphabet, model.output_alphabet
    )
    with pytest.raises(InvalidData, match="proper"):
        ss.EMTransducer(init=wild).fit([([0, 1, 1], [0, 1, 2])])


def test_chunk_transducers_sum_over_all_alignments():
    corpus = ss.PairCorpus.from_pairs(NAMES * 3)
    sizes = ((1, 0), (1, 1), (1, 2))
    learned = learn_chunk_transducer(corpus, sizes, learner="em", n_states=2, max_iter=5).model
    model = learned.model
    x, y = NAMES[2]
    total = 0.0
    for path in all_alignments(x, y, sizes):
        state = model.initial @ model.operator(
            model.input_alphabet.index(("<begin>",)),
            model.output_alphabet.index((("<begin>",),)),
        )
        for a, chunk in path:
            known = tuple(chunk) in model.output_alphabet
            code = model.output_alphabet.index(tuple(chunk)) if known else -1
            state = state @ model.operator(model.input_alphabet.index(a), code) * known
        total += float(
            state
            @ model.operator(
                model.input_alphabet.index(("<end>",)), model.output_alphabet.index((("<end>",),))
            )
            @ model.final
        )
    found = learned.log_proba(ss.PairCorpus(corpus.source[2:3], corpus.target[2:3]))[0]
    assert found == pytest.approx(np.log(total))
    assert (np.diff(learn_chunk_transducer(
        corpus, sizes, learner="em", n_states=2, max_iter=25
    ).info["log_likelihood"]) >= -1e-10).all()  # fmt: skip


def test_chunk_beams_add_up_alignments():
    corpus = ss.PairCorpus.from_pairs(NAMES * 3)
    sizes = ((1, 0), (1, 1), (1, 2))
    learned = learn_chunk_transducer(corpus, sizes, learner="em", n_states=2, max_iter=5).model
    scores, found = learned.n_best(corpus.source[:1], n_best=200, beam=2000)
    outputs = [list(codes) for n in range(7) for codes in product(range(3), repeat=n)]
    targets = ss.Corpus.from_sequences(outputs, alphabet=ss.Alphabet(range(3)))
    target = ss.Corpus(targets.symbols, targets.offsets, corpus.target.alphabet)
    pairs = ss.PairCorpus(corpus.source.take(np.zeros(len(outputs), int)), target)
    expected = learned.log_proba(pairs)
    best = np.argsort(-expected, kind="stable")[:5]
    np.testing.assert_allclose(scores[0, :5], expected[best], rtol=1e-9)
    assert found[0][0] == outputs[best[0]]


def test_outputs_are_drawn_as_often_as_they_are_probable():
    corpus = ss.PairCorpus.from_pairs([("ab", "xy"), ("ab", "x"), ("ab", "yx"), ("a", "x")] * 3)
    sizes = ((1, 0), (1, 1), (1, 2))
    learned = learn_chunk_transducer(corpus, sizes, learner="em", n_states=2, max_iter=5).model
    asked = corpus.source.take([0] * 2000)
    drawn = [tuple(codes) for codes in learned.sample(asked, random_state=0)]
    for output in set(drawn):
        pair = ss.PairCorpus(
            corpus.source.take([0]),
            ss.Corpus.from_sequences(
                [corpus.target.alphabet.decode(list(output))], alphabet=corpus.target.alphabet
            ),
        )
        share = float(np.exp(learned.log_proba(pair)[0]))
        assert drawn.count(output) / 2000 == pytest.approx(share, abs=4 * np.sqrt(0.25 / 2000))
