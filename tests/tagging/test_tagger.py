"""Taggers: training, guessing, decoding, confidence, saving, and tagging of text."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import sigmastar as ss
from sigmastar.core.errors import FileFormatError, InvalidData, InvalidParameter, ParseError
from sigmastar.tagging.decode import class_posteriors
from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
from sigmastar.tagging.fst.word_machines import (
    guesser_input,
    guesser_transducer,
    lexicon_transducer,
)
from sigmastar.tagging.kernels.posterior import expected_counts
from sigmastar.tagging.kernels.records import Moves
from sigmastar.tagging.learn.smoothing import deleted_weights, smooth_tags
from sigmastar.tagging.lexicon.counts import Lexicon, count_tags
from sigmastar.tagging.lexicon.words import WordTable, word_spans
from sigmastar.tagging.model import SCORE_UNIT
from sigmastar.tagging.text import stream
from tagging.oracles import all_taggings, path_score, random_model

WORDS = ["the", "a", "dog", "cat", "walks", "walked", "talked", "quickly", "slowly", "Anna"]
TAGS = ["DT", "DT", "NN", "NN", "VBZ", "VBD", "VBD", "RB", "RB", "NNP"]


def corpus(n=120, seed=0):
    rng = np.random.default_rng(seed)
    sentences, tags = [], []
    for _ in range(n):
        pick = rng.integers(0, len(WORDS), rng.integers(2, 7))
        sentences.append([WORDS[i] for i in pick] + ["walk", "."])
        tags.append([TAGS[i] for i in pick] + ["NN" if pick[-1] < 2 else "VB", "."])
    return sentences, tags


@pytest.fixture(scope="module")
def tagger():
    return HMMTagger().fit(*corpus())


def test_context_decides_the_tag_of_an_ambiguous_word(tagger):
    assert tagger.predict([["the", "walk", "."], ["Anna", "walk", "."]]) == [
        ["DT", "NN", "."],
        ["NNP", "VB", "."],
    ]


def test_unknown_words_are_guessed_from_their_endings(tagger):
    found = tagger.predict([["the", "dog", "jumped", "happily", "."]])[0]
    assert found[2:4] == ["VBD", "RB"]


def test_capitalised_first_word_is_looked_up_in_lower_case(tagger):
    assert tagger.predict([["The", "dog", "."]])[0][0] == "DT"


@pytest.mark.parametrize("near", [False, True])
def test_posteriors_equal_enumeration(near):
    model = random_model(20, order=2, context=True, near=near)
    codes = np.array([4, 6, 7, 0, 5], np.int32)
    counts = np.diff(model.offsets)[codes]
    places, found = class_posteriors(model, codes, np.array([0, 5]))
    taggings = all_taggings(model, codes)
    weights = np.array([np.exp(path_score(model, codes, t) / SCORE_UNIT) for t in taggings])
    weights /= weights.sum()
    for i, code in enumerate(codes):
        for q in range(counts[i]):
            tag = model.candidates[model.offsets[code] + q]
            share = weights[[t[i] == tag for t in taggings]].sum()
            assert found[places[i] + q] == pytest.approx(share, abs=1e-12)


def as_floats(model):
    """Give classes and transitions as EM has them: scores not rounded to integers."""
    classes = model.classes
    scores, context = classes.scores.astype(float), classes.context.astype(float)
    moves = Moves(model.bigram.astype(float), model.trigram.astype(float))
    after, before = classes.after.astype(float), classes.before.astype(float)
    near = {"after": after, "before": before}
    return classes._replace(scores=scores, context=context, **near), moves


@pytest.mark.parametrize("order", [1, 2])
def test_expected_counts_equal_enumeration(order):
    model = random_model(21, order=order)
    codes = np.array([4, 6, 7, 0], np.int32)
    n = model.n_tags
    moves = np.zeros((n + 1 if order == 2 else 1, n + 1, n + 1))
    members = np.zeros(len(model.candidates))
    total = expected_counts(codes, np.array([0, 4]), *as_floats(model), moves, members)
    taggings = all_taggings(model, codes)
    weights = np.array([np.exp(path_score(model, codes, t) / SCORE_UNIT) for t in taggings])
    assert total == pytest.approx(np.log(weights.sum()), abs=1e-9)
    expected = np.zeros_like(moves)
    for tags, weight in zip(taggings, weights / weights.sum(), strict=True):
        line = [n, n, *tags, n]
        for a, b, c in zip(line[:-2], line[1:-1], line[2:], strict=True):
            expected[a if order == 2 else 0, b, c] += weight
    assert np.allclose(moves, expected, atol=1e-12)
    assert members.sum() == pytest.approx(4)


def test_confidence_is_the_posterior_of_the_chosen_tag(tagger):
    sentences = [["the", "walk", "."], [], ["walk"]]
    found = tagger.confidence(sentences)
    chances = tagger.predict_proba(sentences)
    for tags, values, rows in zip(tagger.predict(sentences), found, chances, strict=True):
        assert [row[tag] for tag, row in zip(tags, rows, strict=True)] == pytest.approx(
            list(values)
        )
        assert all(sum(row.values()) == pytest.approx(1) for row in rows)


def test_posterior_decoding_takes_the_likeliest_tag(tagger):
    other = clone(tagger).set_params(decoding="posterior").fit(*corpus())
    sentences = corpus(20, seed=3)[0]
    rows = other.predict_proba(sentences)
    best = [[max(row, key=row.get) for row in sentence] for sentence in rows]
    assert other.predict(sentences) == best


@pytest.mark.parametrize("order", [1, 2])
def test_every_baum_welch_step_raises_the_likelihood(order):
    sentences, tags = corpus(40)
    lexicon = Lexicon.from_tagged(ss.PairCorpus.from_pairs(zip(sentences, tags, strict=True)))
    tagger = HMMTagger(order, classes="sets", max_iter=8, tol=0).fit(sentences, lexicon=lexicon)
    steps = np.diff(tagger.info_["log_likelihood"])
    assert len(steps) >= 5
    assert (steps >= -1e-7).all()


def test_untagged_text_needs_a_lexicon():
    with pytest.raises(InvalidParameter, match="needs a lexicon"):
        HMMTagger(classes="sets").fit([["a"]])


def test_counts_equal_counting_by_hand():
    counts = count_tags(
        np.array([0, 1, 0], np.int32), np.array([0, 2, 3]), np.array([0, 1, 1]), n_tags=2, order=2
    )
    seen = {tuple(x): counts.trigrams[tuple(x)] for x in np.argwhere(counts.trigrams)}
    assert seen == {(2, 2, 0): 1, (2, 0, 1): 1, (0, 1, 2): 1, (2, 2, 1): 1, (2, 1, 2): 1}
    assert counts.context.tolist() == [[0, 2, 0, 1], [0, 2, 1, 1], [1, 0, 1, 1]]


@pytest.mark.parametrize("method", ["witten-bell", "deleted"])
def test_smoothed_probabilities_sum_to_one(method):
    counts = np.random.default_rng(0).poisson(0.3, (4, 4, 4))
    for logs in smooth_tags(counts, method=method, strength=2.0):
        assert np.allclose(np.exp(logs).sum(axis=-1), 1)


def test_deleted_interpolation_trusts_what_repeats():
    triples = np.zeros((3, 3, 3))
    triples[0, 1, 2] = triples[1, 2, 0] = triples[2, 0, 1] = 50
    assert deleted_weights(triples)[2] == 1.0


@pytest.mark.parametrize("classes", ["words", "sets"])
def test_saved_tagger_tags_the_same(tmp_path, classes):
    tagger = HMMTagger(1, classes=classes, n_lexical=2 if classes == "sets" else 0).fit(*corpus())
    tagger.save(tmp_path / "t.sigma")
    again = ss.load(tmp_path / "t.sigma")
    test = [*corpus(30, seed=5)[0], ["Unheard", "of", "things"]]
    assert again.predict(test) == tagger.predict(test)
    assert again.get_params() == tagger.get_params()


def test_damaged_classes_are_refused(tmp_path):
    tagger = HMMTagger(1).fit(*corpus(20))
    tagger.vocabulary_.inside[0] = 10**6
    tagger.save(tmp_path / "t.sigma")
    with pytest.raises(FileFormatError, match="form_inside must lie between"):
        ss.load(tmp_path / "t.sigma")


def test_lexicalised_words_are_classes_of_their_own():
    sentences, tags = corpus()
    plain = HMMTagger(1, classes="sets").fit(sentences, tags)
    rich = HMMTagger(1, classes="sets", n_lexical=1).fit(sentences, tags)
    assert rich.model_.n_classes == plain.model_.n_classes + 1 or rich.vocabulary_.inside[
        rich.vocabulary_.forms.index("walk")
    ] not in np.delete(rich.vocabulary_.inside, rich.vocabulary_.forms.index("walk"))


def test_max_classes_bounds_the_ambiguous_sets():
    tagger = HMMTagger(1, classes="sets", max_classes=0).fit(*corpus())
    assert not tagger.model_.is_ambiguous.any()


def test_unequal_lengths_are_named():
    with pytest.raises(InvalidData, match="sentence 1 has 1 words and 2 tags"):
        HMMTagger().fit([["a"], ["b"]], [["X"], ["X", "Y"]])


def test_words_must_be_strings(tagger):
    with pytest.raises(InvalidData, match="words must be strings; got 1"):
        tagger.predict([["the", 1]])


def test_no_sentences_give_no_answers(tagger):
    assert tagger.predict([]) == tagger.confidence([]) == tagger.predict_proba([]) == []


def test_a_string_is_not_a_sentence(tagger):
    with pytest.raises(InvalidData, match="Split it"):
        tagger.predict(["the dog"])


@given(st.lists(st.text(min_size=1, max_size=8), unique=True, min_size=1, max_size=30))
def test_word_table_finds_exactly_its_words(words):
    table = WordTable(words[::2])
    found = table.find(word_spans(words))
    assert found.tolist() == [i // 2 if i % 2 == 0 else -1 for i in range(len(words))]


@pytest.mark.parametrize("kind", ["n0", "n1", "n2", "s", "s+n1", "lazy", "b"])
def test_compiled_taggers_tag_strings_save_and_load(tmp_path, kind):
    sentences, tags = corpus(60)
    tagger = HMMTagger(classes="sets", threshold=0.05).fit(sentences, tags)
    fst = ss.FSTTagger.from_hmm(tagger, kind, corpus=sentences)
    fst.save(tmp_path / "f.sigma")
    assert ss.load(tmp_path / "f.sigma").predict(sentences) == fst.predict(sentences)
    assert fst.info["n_states"] == fst.machine.n_states
    if kind == "lazy":
        assert fst.info["agreement"] == 1.0


def test_text_formats_agree_with_predict(tagger):
    sentences = [["the", "dog", "."], ["Anna", "zwölfte", "walk"]]
    tags = tagger.predict(sentences)
    flat = [list(zip(s, t, strict=True)) for s, t in zip(sentences, tags, strict=True)]
    lines = "\n".join(" ".join(s) for s in sentences) + "\n\n"
    tokens = "\n\n".join("\n".join(s) for s in sentences)
    word_tag = "\n".join(" ".join(f"{w}/{t}" for w, t in s) for s in flat) + "\n"
    tsv = "".join("".join(f"{w}\t{t}\n" for w, t in s) + "\n" for s in flat)
    assert tag_text(tagger, lines) == word_tag + "\n"
    assert tag_text(tagger, tokens, "tokens", "tsv") == tsv
    assert tag_text(tagger, tokens.replace("\n", "\r\n"), "tokens", "word/TAG") == word_tag


def test_conllu_keeps_its_other_columns(tagger):
    text = "# id 1\n1\tthe\tthe\tX\tX\tA=b\t2\tdet\t_\t_\n2-3\tdogs\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    found = tag_text(tagger, text, "conllu", "conllu")
    assert found == text.replace("X\tX", "DT\tDT")
    made = tag_text(tagger, "the dog\n", "lines", "conllu")
    assert made.splitlines()[0] == "1\tthe\t_\tDT\tDT\t_\t_\t_\t_\t_"


def tag_text(tagger, text, read="lines", write="word/TAG"):
    target = io.BytesIO()
    source = io.BytesIO(text.encode())
    tagger.tag_file(source, target, input_format=read, output_format=write)
    return target.getvalue().decode()


@pytest.mark.parametrize("read", ["lines", "conllu"])
def test_a_file_of_many_blocks_is_tagged_in_order_on_all_threads(
    tagger, read, tmp_path, monkeypatch
):
    monkeypatch.setattr(stream, "_BLOCK", 512)  # bytes
    monkeypatch.setenv("SIGMASTAR_THREADS", "3")
    sentences = [[WORDS[(i * j) % 10] for j in range(1, 2 + i % 7)] for i in range(400)]
    if read == "lines":
        text = "".join(" ".join(words) + "\n" for words in sentences)
    else:
        rows = [[f"{i + 1}\t{w}" + 8 * "\t_" for i, w in enumerate(s)] for s in sentences]
        text = "".join("\n".join(lines) + "\n\n" for lines in rows)
    (tmp_path / "text").write_text(text)
    with open(tmp_path / "text", "rb") as source, open(tmp_path / "tagged", "wb") as target:
        counts = tagger.tag_file(source, target, input_format=read)
    assert counts == (400, sum(map(len, sentences)))
    pairs = zip(sentences, tagger.predict(sentences), strict=True)
    lines = [" ".join(f"{w}/{t}" for w, t in zip(*pair, strict=True)) for pair in pairs]
    assert (tmp_path / "tagged").read_text().splitlines() == lines


def test_a_bad_line_of_a_later_block_is_named_by_its_number(tagger, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "_BLOCK", 256)
    good = "1\tdog" + 8 * "\t_" + "\n\n"
    (tmp_path / "bad.conllu").write_text(50 * good + "1\tdog\n")
    with open(tmp_path / "bad.conllu", "rb") as source, pytest.raises(ParseError) as told:
        tagger.tag_file(source, io.BytesIO(), input_format="conllu")
    assert "bad.conllu:101" in str(told.value)


def test_class_sequences_of_strings_and_bytes_agree(tagger):
    sentences = [["The", "dog", "x-ray", "4,000"], ["ANNA", "über", "."]]
    codes, starts = tagger.to_classes(sentences)
    data = "\n".join(" ".join(s) for s in sentences).encode()
    from sigmastar.tagging.text.stream import cut

    array = np.frombuffer(data, np.uint8)
    assert np.array_equal(tagger.vocabulary_.classes_of_bytes(*cut(array, False)), codes)
    assert starts.tolist() == [0, 4, 7]


def test_lexicon_transducer_maps_every_word_to_its_class_and_is_minimal(tagger):
    names = [f"c{i}" for i in range(tagger.model_.n_classes)]
    vocabulary = tagger.vocabulary_
    machine = lexicon_transducer(vocabulary, names)
    for word, code in zip(vocabulary.forms, vocabulary.inside, strict=True):
        assert machine.transduce(list(word)) == [names[code]]
    assert machine.minimized().n_states == machine.n_states
    with pytest.raises(InvalidData):
        machine.transduce(list("dogdog"))


@given(st.text(min_size=1, max_size=9))
def test_guesser_transducer_agrees_with_the_guesser(word):
    tagger = HMMTagger().fit(*corpus(30))
    names = [f"c{i}" for i in range(tagger.model_.n_classes)]
    machine = guesser_transducer(tagger.vocabulary_, names)
    for initial in (False, True):
        code = tagger.vocabulary_.guess(word_spans([word]), initial)[0]
        read = guesser_input(machine, word, initial=initial)
        assert machine.transduce(read[: 1 + tagger.max_suffix]) == [names[code]]


def test_words_that_only_other_parts_of_a_corpus_have_stay_unknown():
    whole = ss.PairCorpus.from_pairs([(["a", "b"], ["X", "Y"]), (["c"], ["X"])])
    tagger = HMMTagger(1).fit(whole[:1])
    assert "c" not in tagger.vocabulary_.forms
    assert Lexicon.from_tagged(whole[:1]).words == ("a", "b")


def test_a_baum_welch_step_takes_the_expected_frequencies():
    sentences, tags = corpus(30)
    pairs = ss.PairCorpus.from_pairs(zip(sentences, tags, strict=True))
    lexicon = Lexicon.from_tagged(pairs)
    options = {"classes": "sets", "tol": 0.0}
    before = HMMTagger(1, max_iter=1, **options).fit(sentences, lexicon=lexicon)
    after = HMMTagger(1, max_iter=2, **options).fit(sentences, lexicon=lexicon)
    model = before.model_
    codes, starts = before.to_classes(sentences)
    moves = np.zeros((1, model.n_tags + 1, model.n_tags + 1))
    members = np.zeros(len(model.candidates))
    expected_counts(codes, starts, *as_floats(model), moves, members)
    total = np.bincount(model.candidates, members, model.n_tags)[model.candidates]
    seen = members > 1e-6
    expected = np.log(members[seen] / total[seen])
    assert np.allclose(after.model_.scores[seen] / SCORE_UNIT, expected, atol=1e-3)
    often = moves[0] > 1e-6
    shares = moves[0] / np.maximum(moves[0].sum(axis=1, keepdims=True), 1e-300)
    assert np.allclose(after.model_.bigram[often] / SCORE_UNIT, np.log(shares[often]), atol=1e-3)
