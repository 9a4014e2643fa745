"""Discriminative training: the gradient, what it gains, and that machines stay exact."""

from types import SimpleNamespace

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidParameter
from sigmastar.tagging.decode import class_posteriors
from sigmastar.tagging.kernels.crf import Features, Rates, Tokens, Weights, learn_pass
from sigmastar.tagging.kernels.records import Classes, Moves
from sigmastar.tagging.learn import discriminative, supervised
from sigmastar.tagging.lexicon.features import word_features
from sigmastar.tagging.lexicon.word_classes import Candidates, Entries
from sigmastar.tagging.model import SCORE_UNIT
from tagging.oracles import all_taggings, path_score, random_model
from tagging.test_tagger import corpus

UNSEEN = [["The", "cats", "jumped", "unhappily", "."], ["a", "zig-zag", "walk", "9"], []]


def log_chance(model, codes, tags):
    """Return log P(tags | classes) by enumeration."""
    scores = np.array([path_score(model, codes, t) for t in all_taggings(model, codes)], float)
    total = np.logaddexp.reduce(scores / SCORE_UNIT)
    return path_score(model, codes, tags) / SCORE_UNIT - total


def changed(model, name, at, by):
    """Return the model with one score of an array changed."""
    array = getattr(model, name).copy()
    array[at] += by
    return type(model)(model.tags, **model.to_arrays() | {name: array})


@pytest.mark.parametrize("order", [1, 2])
def test_one_step_is_the_gradient_of_the_enumerated_log_probability(order):
    model = random_model(3, order=order, context=True)
    codes, tags = np.array([7, 4, 7, 6, 5], np.int32), np.array([3, 0, 1, 2, 2])
    n, side = len(model.scores), model.n_tags + 1
    # A row of its own for each class; its neighbours see one feature of it.
    rows, table = np.arange(model.n_classes), np.zeros((model.n_classes, side), np.int32)
    near = {"after_rows": rows, "after": table, "before_rows": rows, "before": table}
    model = type(model)(model.tags, **model.to_arrays() | near)
    # Two weights a candidate: one of its own, and one that candidates of the same tag share.
    places = np.stack((np.arange(n), n + model.candidates), axis=1).ravel().astype(np.int32)
    ones = np.arange(model.n_classes + 1)
    features = Features(2 * np.arange(n + 1), places, np.empty(n), ones, ones[:-1].astype(np.int32))
    context = model.context.astype(float)
    moves = Moves(model.bigram.astype(float), model.trigram.astype(float))
    table = moves.trigram if order == 2 else moves.bigram
    given = (model.offsets, model.candidates, features.scores, model.context_rows, context)
    after, beforehand = np.zeros((2, *model.after.shape))
    classes = Classes(*given, model.after_rows, after, model.before_rows, beforehand)
    own = np.concatenate((model.scores, np.zeros(model.n_tags)))
    none = np.zeros((2, model.after.size))
    weights = Weights(own, table.reshape(-1), context.reshape(-1), none[0], none[1])
    before = [values.copy() for values in weights]
    squares = Weights(*(np.full(len(values), 1e16) for values in weights))  # steps hardly move
    tokens = Tokens(np.array([0, 5]), codes, tags)
    learn_pass(np.array([0]), tokens, classes, moves, features, weights, squares, Rates(1.0, 0.0))
    steps = [(a - b) / SCORE_UNIT * 1e8 for a, b in zip(weights, before, strict=True)]
    eps = 1 << 8

    def slope(name, at):
        up, down = (log_chance(changed(model, name, at, x), codes, tags) for x in (eps, -eps))
        return (up - down) / (2 * eps / SCORE_UNIT)

    own = [slope("scores", c) for c in range(n)]
    shared = np.bincount(model.candidates, weights=own, minlength=model.n_tags)
    assert steps[0] == pytest.approx(np.concatenate((own, shared)), abs=1e-3)
    name = "trigram" if order == 2 else "bigram"
    moving = [slope(name, at) for at in np.ndindex(table.shape)]
    assert steps[1] == pytest.approx(np.array(moving), abs=1e-3)
    around = [slope("context", at) for at in np.ndindex(context.shape)]
    assert steps[2] == pytest.approx(np.array(around), abs=1e-3)
    for name, step in zip(("after", "before"), steps[3:], strict=True):
        told = [slope(name, at) for at in np.ndindex(model.after.shape)]
        assert step == pytest.approx(np.array(told), abs=1e-3)
        assert np.abs(step).max() > 0.01


@pytest.fixture(scope="module")
def trained():
    return ss.HMMTagger(training="discriminative", n_passes=4).fit(*corpus())


def mean_log_chance(tagger, sentences, tags):
    """Return the mean log-probability of the right tags, given the sentences."""
    model = tagger.model_
    codes, starts = tagger.to_classes(sentences)
    places, chances = class_posteriors(model, codes, starts)
    number = {tag: code for code, tag in enumerate(model.tags)}
    right = [number[tag] for sentence in tags for tag in sentence]
    found = []
    for code, place, tag in zip(codes, places, right, strict=True):
        own = model.candidates[model.offsets[code] : model.offsets[code + 1]].tolist()
        found.append(np.log(chances[place + own.index(tag)]))
    return np.mean(found)


def test_right_tags_become_likelier_than_under_the_counts(trained):
    counted = ss.HMMTagger().fit(*corpus())
    assert mean_log_chance(trained, *corpus()) > mean_log_chance(counted, *corpus()) + 1e-3
    losses = trained.info_["loss"]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("order", [1, 2])
def test_the_lazy_machine_equals_a_discriminative_tagger(order):
    tagger = ss.HMMTagger(order, training="discriminative", n_passes=2).fit(*corpus())
    sentences = [*corpus(60, seed=5)[0], *UNSEEN]
    machine = ss.FSTTagger.from_hmm(tagger, "lazy")
    assert machine.predict(sentences) == tagger.predict(sentences)


def test_a_file_holds_all_that_was_learned(trained, tmp_path):
    trained.save(tmp_path / "crf.sigma")
    loaded = ss.load(tmp_path / "crf.sigma")
    assert loaded.predict_proba(UNSEEN) == trained.predict_proba(UNSEEN)
    assert loaded.get_params() == trained.get_params()


def test_the_same_seed_learns_the_same_scores(trained):
    again = ss.HMMTagger(training="discriminative", n_passes=4).fit(*corpus())
    assert np.array_equal(again.model_.scores, trained.model_.scores)
    other = ss.HMMTagger(training="discriminative", n_passes=4, random_state=1).fit(*corpus())
    assert not np.array_equal(other.model_.trigram, trained.model_.trigram)


def test_a_strong_penalty_keeps_the_weights_of_features_small():
    spread = []
    for penalty in (0.0, 50.0):
        settings = {"training": "discriminative", "n_passes": 4, "penalty": penalty}
        model = ss.HMMTagger(**settings).fit(*corpus()).model_
        spread.append(-int(model.scores.min()))  # of a candidate behind the best one of its word
    assert spread[1] < spread[0]


def test_ambiguity_classes_are_not_trained_discriminatively():
    with pytest.raises(InvalidParameter, match='training="discriminative" needs classes="words"'):
        ss.HMMTagger(training="discriminative", classes="sets").fit(*corpus())


def test_a_compiled_tagger_is_as_sure_as_the_tagger_it_was_made_of(trained):
    rules = ss.RuleSet.from_text("walk/VB -> DT\n", trained.tags_)
    lazy = ss.FSTTagger.from_hmm(trained, "lazy")
    sentences = [["Anna", "walk", "."], *UNSEEN]
    chances, given = trained.predict_proba(sentences), trained.predict(sentences)
    expected = [
        [of_word[tag] for of_word, tag in zip(words, tags, strict=True)]
        for words, tags in zip(chances, given, strict=True)
    ]
    assert [found.tolist() for found in lazy.confidence(sentences)] == expected
    # What only a rule says, the scores have nothing to say of.
    corrected = lazy.with_rules(rules).confidence(sentences)[0]
    assert corrected.tolist() == [expected[0][0], 0.0, expected[0][2]]


def test_tables_have_no_scores_to_be_sure_by():
    alone = ss.HMMTagger(training="discriminative", n_passes=1, n_neighbours=0).fit(*corpus())
    assert not alone.model_.heeds_neighbours
    with pytest.raises(InvalidParameter, match="confidence needs the scores of the tagger"):
        ss.FSTTagger.from_hmm(alone, "n1").confidence(UNSEEN)


@pytest.mark.parametrize("kind", ["n1", "s+n1"])
def test_tables_are_refused_where_words_heed_their_neighbours(trained, kind):
    with pytest.raises(InvalidParameter, match=r"heeds their neighbours.*n_neighbours=0"):
        ss.FSTTagger.from_hmm(trained, kind, max_length=2)


def test_words_tell_what_comes_before_and_after_them():
    # Nothing else tells the tags of x apart: the tags of its neighbours are the same.
    sentences = [[a, "x", b] for a, b in (("one", "p"), ("two", "p"), ("four", "q"), ("four", "r"))]
    tags = [["N", "A", "N"], ["N", "B", "N"], ["N", "A", "N"], ["N", "B", "N"]]
    settings = {"training": "discriminative", "threshold": 0.001, "n_passes": 30}
    tagger = ss.HMMTagger(**settings).fit(sentences * 20, tags * 20)
    assert tagger.predict(sentences) == tags
    alone = ss.HMMTagger(**settings, n_neighbours=0).fit(sentences * 20, tags * 20)
    assert alone.predict(sentences) != tags


def test_the_mean_of_several_models_is_one(trained):
    several = ss.HMMTagger(training="discriminative", n_passes=4, n_models=3).fit(*corpus())
    again = ss.HMMTagger(training="discriminative", n_passes=4, n_models=3).fit(*corpus())
    assert np.array_equal(several.model_.trigram, again.model_.trigram)
    assert not np.array_equal(several.model_.trigram, trained.model_.trigram)
    assert len(several.info_["loss"]) == 4


def drawn(n, seed, n_tags=8, n_words=400):
    """Draw sentences of a hidden Markov model whose words tell nothing by their letters."""
    truth = np.random.default_rng(7)
    moves = truth.dirichlet(np.full(n_tags, 0.3), n_tags)
    frequency = 1.0 / np.arange(1, n_words + 1)
    words = truth.dirichlet(np.full(n_tags, 0.15), n_words) * frequency[:, None]
    words /= words.sum(axis=0)
    names = ["".join(truth.choice(list("abcdefgh"), 4)) for _ in range(n_words)]
    rng = np.random.default_rng(seed)
    sentences, tags = [], []
    for _ in range(n):
        path = [int(rng.integers(n_tags))]
        for _ in range(14):
            path.append(int(rng.choice(n_tags, p=moves[path[-1]])))
        sentences.append([names[rng.choice(n_words, p=words[:, tag])] for tag in path])
        tags.append([f"T{tag}" for tag in path])
    return sentences, tags


@pytest.mark.parametrize("n", [60, 150])
def test_few_sentences_of_a_hidden_markov_model_teach_no_less_than_their_counts(n):
    """Counts are all there is to know: steps from zero would not come as far."""
    train, (sentences, tags) = drawn(n, seed=0), drawn(400, seed=1)
    right = []
    for training in ("counts", "discriminative"):
        found = ss.HMMTagger(training=training).fit(*train).predict(sentences)
        right.append(np.mean(np.concatenate(found) == np.concatenate(tags)))
    assert right[1] >= right[0]


def watch_passes(monkeypatch, each=lambda *given: 0.0):
    """Put something else in the place of a pass; remember what each was given."""
    seen = []

    def learn_pass(order, tokens, classes, moves, features, weights, squares, rates):
        start = [part.copy() for part in weights]
        seen.append((order.copy(), tokens, rates, start, [part.copy() for part in squares]))
        return each(order, tokens, weights)

    monkeypatch.setenv("SIGMASTAR_THREADS", "1")
    monkeypatch.setattr(discriminative, "learn_pass", learn_pass)
    return seen


def watch_training(monkeypatch):
    """Remember what scores training was given, and what came of them."""
    found, train = [], supervised.train_scores

    def watched(start, *given):
        scores, facts = train(start, *given)
        found.append((start, scores))
        return scores, facts

    monkeypatch.setattr(supervised, "train_scores", watched)
    return found


@pytest.mark.parametrize("order", [1, 2])
def test_passes_begin_at_half_the_counts_and_take_ever_shorter_steps(monkeypatch, order):
    seen = watch_passes(monkeypatch, lambda order, tokens, weights: 3.0 * len(tokens.codes))
    found = watch_training(monkeypatch)
    sentences, tags = corpus(30)
    settings = {"training": "discriminative", "n_passes": 4, "n_models": 2, "penalty": 0.7}
    tagger = ss.HMMTagger(order, **settings).fit(sentences, tags)
    assert [rates.step for _, _, rates, *_ in seen] == pytest.approx(
        [0.05, 0.0375, 0.025, 0.0125] * 2
    )
    assert {rates.decay for _, _, rates, *_ in seen} == {0.7}
    assert all(sorted(places) == list(range(30)) for places, *_ in seen)
    assert len({tuple(places) for places, *_ in seen}) == 8
    counted = ss.HMMTagger(order).fit(sentences, tags).model_
    table = counted.trigram if order == 2 else counted.bigram
    start = found[0][0]
    n = len(start.found.score)
    for *_, (features, moves, *others), squares in seen:
        np.testing.assert_allclose(moves, 0.5 * table.ravel(), atol=2)
        np.testing.assert_allclose(features[-n:], 0.5 * start.found.score * SCORE_UNIT)
        assert not features[:-n].any()
        assert not any(part.any() for part in [*others, *squares])
    assert tagger.info_["loss"] == [3.0] * 4


def test_what_several_models_learned_is_averaged(monkeypatch):
    def each(order, tokens, weights):
        weights.moves[0] += SCORE_UNIT * order[0]
        return float(order[0])

    seen = watch_passes(monkeypatch, each)
    sentences, tags = corpus(30)
    settings = {"training": "discriminative", "n_passes": 2, "n_models": 3}
    tagger = ss.HMMTagger(1, **settings).fit(sentences, tags)
    added = [int(order[0]) for order, *_ in seen]
    begun = seen[0][3][1][0] / SCORE_UNIT
    assert tagger.model_.bigram[0, 0] / SCORE_UNIT == pytest.approx(
        begun + sum(added) / 3, abs=1e-5
    )
    n = sum(map(len, sentences))
    expected = [sum(added[first::2]) / 3 / n for first in (0, 1)]
    assert tagger.info_["loss"] == pytest.approx(expected)


def test_scores_are_the_sums_of_the_weights_of_features(monkeypatch):
    """All weights at one: as many nats as a candidate has features."""

    def each(order, tokens, weights):
        weights.features[:] = SCORE_UNIT
        return 0.0

    watch_passes(monkeypatch, each)
    found = watch_training(monkeypatch)
    ss.HMMTagger(1, training="discriminative", n_passes=1).fit(*corpus(30))
    scores = found[0][1]
    n_tags = len({tag for own in corpus(30)[1] for tag in own})
    features, *_ = word_features(scores.entries, scores.found, n_tags)
    assert np.array_equal(scores.found.score, np.diff(features.starts) + 1)  # and its own weight


def test_rare_words_stand_for_unknown_ones_more_often(monkeypatch):
    """A word that was seen c times, with probability 2 / (2 + c)."""
    seen = watch_passes(monkeypatch)
    words = ["once", *["twice"] * 2, *["often"] * 8]
    tagger = ss.HMMTagger(1, training="discriminative", n_passes=1000)
    tagger.fit([["."], words, []], [["."], list("XXYXYXYXYXY"), []])
    codes = np.array([tokens.codes for _, tokens, *_ in seen])
    assert codes.shape == (1000, 12)
    for place, word in enumerate([".", *words]):
        count = [".", *words].count(word)
        _, times = np.unique(codes[:, place], return_counts=True)
        assert sorted(times / 1000) == pytest.approx(
            sorted([2 / (2 + count), count / (2 + count)]), abs=0.07
        )


def entries_of(**parts):
    """Two nodes, three forms, the second of them apart at the beginning, shadows of two entries."""
    given = {
        "forms": ["a", "b", "c"],
        "apart": np.array([1]),
        "trie": None,
        "word": np.array([-1, -1, 0, 1, 2, 1, -1, -1]),
        "node": np.array([0, 1, 0, 1, 1, 0, 1, 0]),
        "borrowed": np.zeros(8, bool),
        "shadows": np.array([3, 5]),
    }
    return Entries(**given | parts)


def test_tokens_have_an_entry_by_place_and_one_as_if_they_were_unknown():
    source = ss.Corpus.from_sequences(["ba", "", "cbb"], alphabet=ss.Alphabet("abc"))
    known, unknown = discriminative._entries_of_tokens(source, entries_of())
    assert known.tolist() == [5, 2, 4, 3, 3]
    assert unknown.tolist() == [7, 0, 1, 6, 6]  # the shadow if there is one, else the node


def test_words_seen_twice_with_several_tags_have_rows_for_their_contexts():
    """Entries of one word and equal candidates share theirs."""
    tags = [[0], [0, 1], [0, 1], [0, 2, 3], [1], [0, 2, 3], [0, 1], [0, 1]]
    found = Candidates(
        np.repeat(np.arange(8), [len(own) for own in tags]), np.concatenate(tags), np.zeros(15)
    )
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in tags])])
    lexicon = SimpleNamespace(word_counts=np.array([2, 9, 5]))
    rows, n = discriminative._context_rows(entries_of(), offsets, found, lexicon)
    assert (rows.tolist(), n) == ([-1, -1, 0, 2, -1, 2, -1, -1], 5)
    rare = SimpleNamespace(word_counts=np.array([1, 9, 5]))
    rows, n = discriminative._context_rows(entries_of(), offsets, found, rare)
    assert (rows.tolist(), n) == ([-1, -1, -1, 0, -1, 0, -1, -1], 3)


def test_all_that_is_not_zero_in_a_row_is_a_gain():
    context = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0], [0.0, 0.0, 4.0], [0.0, 5.0, 0.0]])
    rows = np.array([-1, 2, 0, 2], np.int32)
    gains = discriminative._gains(rows, np.array([3, 2, 2, 2]), context)
    expected = [
        (entry, which, before, context[rows[entry] + which, before])
        for entry in (1, 2, 3)
        for which in range(2)
        for before in range(3)
        if context[rows[entry] + which, before]
    ]
    assert list(zip(*gains, strict=True)) == expected
