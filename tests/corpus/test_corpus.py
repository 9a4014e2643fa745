"""Alphabets, corpora and pair corpora."""

import pickle
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter, UnknownSymbol
from sigmastar.corpus.corpus import as_corpus
from sigmastar.corpus.kernels.rows import shared_prefixes, sort_rows

SYMBOLS = st.one_of(st.integers(0, 5), st.sampled_from("abc"), st.tuples(st.integers(0, 1)))
SEQUENCES = st.lists(st.lists(SYMBOLS, max_size=6), max_size=12)
WORDS = st.lists(st.text("abcé☃", max_size=5), max_size=15)


@given(SEQUENCES)
def test_decoding_undoes_encoding(sequences):
    assert list(ss.Corpus.from_sequences(sequences)) == sequences


@given(WORDS)
def test_strings_are_sequences_of_characters(words):
    corpus = ss.Corpus.from_sequences(words)
    assert ["".join(x) for x in corpus] == words
    assert corpus == ss.Corpus.from_sequences([list(word) for word in words])


def test_collected_alphabets_are_sorted():
    assert ss.Corpus.from_sequences(["cab", "d"]).alphabet.symbols == ("a", "b", "c", "d")


def test_numpy_values_become_python_symbols():
    corpus = ss.Corpus.from_sequences([np.array([3, 1]), np.array([], dtype=int)])
    assert corpus.alphabet.symbols == (1, 3)
    assert type(corpus.alphabet[0]) is int


@pytest.mark.parametrize("text", [True, False], ids=["characters", "tokens"])
def test_unknown_symbols_follow_the_policy(text):
    alphabet = ss.Alphabet("ab").with_unk()
    sequences = ["axb"] if text else [["a", "x", "b"]]
    read = ss.Corpus.from_sequences
    assert list(read(sequences, alphabet=alphabet, unknown="ignore")) == [["a", "b"]]
    assert list(read(sequences, alphabet=alphabet, unknown="unk")) == [["a", "<unk>", "b"]]
    with pytest.raises(UnknownSymbol, match="symbol 'x' is not in the alphabet of 3"):
        read(sequences, alphabet=alphabet, unknown="error")
    assert list(read(sequences, alphabet=alphabet)) == [["a", "<unk>", "b"]]  # its own policy
    assert list(read(sequences, alphabet=alphabet.with_policy("ignore"))) == [["a", "b"]]


def test_symbols_of_another_type_are_told():
    with pytest.raises(UnknownSymbol, match=r"symbol 5 \(int\) .* but '5' \(str\) is"):
        ss.Alphabet(["5", "6"]).encode([5])
    with pytest.raises(UnknownSymbol, match=r"symbol '5' \(str\) .* but 5 \(int\) is"):
        ss.Alphabet([5, 6]).encode(["5"])


def test_unk_needs_a_symbol_for_it():
    with pytest.raises(InvalidParameter, match="with_unk"):
        ss.Alphabet("ab").encode("x", unknown="unk")


def test_unknown_policy_is_checked():
    with pytest.raises(InvalidParameter, match="unknown must be 'error', 'ignore' or 'unk'"):
        ss.Corpus.from_sequences(["a"], unknown="drop")


def test_lengths_cut_a_flat_run():
    corpus = ss.Corpus.from_sequences([5, 7, 5], lengths=[2, 0, 1])
    assert list(corpus) == [[5, 7], [], [5]]


@pytest.mark.parametrize("lengths", [[1, 1], [4, -1], [1.5, 1.5], [[3]]])
def test_wrong_lengths_are_refused(lengths):
    with pytest.raises(InvalidParameter, match="lengths must be"):
        ss.Corpus.from_sequences("abc", lengths=lengths)


@given(WORDS, st.slices(15))
def test_slices_are_those_of_the_list(words, where):
    corpus = ss.Corpus.from_sequences(words, alphabet=ss.Alphabet("abcé☃"))
    assert ["".join(x) for x in corpus[where]] == words[where]


@given(WORDS, st.data())
def test_take_and_masks_choose_rows(words, data):
    corpus = ss.Corpus.from_sequences(words, alphabet=ss.Alphabet("abcé☃"))
    rows = data.draw(st.lists(st.integers(0, len(words) - 1)) if words else st.just([]))
    assert ["".join(x) for x in corpus.take(rows)] == [words[i] for i in rows]
    mask = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    chosen = corpus[np.array(mask, dtype=bool)]
    assert ["".join(x) for x in chosen] == [w for w, kept in zip(words, mask, strict=True) if kept]


def test_take_counts_negative_rows_from_the_end():
    corpus = ss.Corpus.from_sequences(["ab", "c"])
    assert list(corpus.take([-1, 0])) == [["c"], ["a", "b"]]
    with pytest.raises(IndexError):
        corpus.take([2])


def test_single_sequences_and_negative_indices():
    corpus = ss.Corpus.from_sequences(["ab", "c"])
    assert corpus[-1] == ["c"]
    with pytest.raises(IndexError, match="sequence 2 of a corpus of 2"):
        corpus[2]


@given(WORDS)
def test_distinct_counts_like_a_counter(words):
    distinct, counts = ss.Corpus.from_sequences(words).distinct()
    found = dict(zip(["".join(x) for x in distinct], counts.tolist(), strict=True))
    assert found == dict(Counter(words))
    assert list(found) == list(dict.fromkeys(words))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([["a", "b"], [], ["a"]]),
        pa.chunked_array([[["a", "b"], []], [["a"]]]),
        pa.array([["x"], ["a", "b"], [], ["a"]])[1:],
        pa.array(["ab", "", "a"]),
        pa.array(["ab", "", "a"]).dictionary_encode(),
        pa.array([["a", "b"], [], ["a"]], type=pa.large_list(pa.string())),
    ],
    ids=["lists", "chunks", "sliced", "strings", "dictionary", "large"],
)
def test_arrow_columns(column):
    assert list(ss.Corpus.from_arrow(column)) == [["a", "b"], [], ["a"]]


def test_arrow_nulls_are_refused():
    with pytest.raises(InvalidData, match="must not hold nulls; it has 1"):
        ss.Corpus.from_arrow(pa.array([["a"], None]))


def test_split_parts_the_sequences_in_order():
    corpus = ss.Corpus.from_sequences([[i] for i in range(20)])
    part, rest = corpus.split(0.25, random_state=0)
    assert len(part) == 5
    first, second = [x[0] for x in part], [x[0] for x in rest]
    assert first == sorted(first)
    assert sorted(first + second) == list(range(20))
    assert corpus.split(0.25, random_state=0)[0] == part


@given(WORDS, st.permutations("abcé☃"))
def test_recoding_keeps_the_sequences(words, order):
    corpus = ss.Corpus.from_sequences(words)
    recoded = corpus.recode(ss.Alphabet(order))
    assert list(recoded) == list(corpus)
    assert recoded.alphabet.symbols == tuple(order)


def test_recoding_follows_the_unknown_policy():
    corpus = ss.Corpus.from_sequences(["abc", "c"])
    smaller = ss.Alphabet("ba").with_unk()
    assert list(corpus.recode(smaller, unknown="ignore")) == [["a", "b"], []]
    assert list(corpus.recode(smaller, unknown="unk")) == [["a", "b", "<unk>"], ["<unk>"]]
    with pytest.raises(UnknownSymbol, match="'c'"):
        corpus.recode(smaller, unknown="error")


def test_recoding_checks_the_policy_and_needs_an_unk_symbol():
    corpus = ss.Corpus.from_sequences(["abc"])
    with pytest.raises(InvalidParameter, match="unknown must be"):
        corpus.recode(ss.Alphabet("abcd"), unknown="drop")
    with pytest.raises(InvalidParameter, match="with_unk"):
        corpus.recode(ss.Alphabet("ab"), unknown="unk")


def test_pickling_keeps_corpora_and_alphabets():
    corpus = ss.Corpus.from_sequences(["ab", ""], alphabet=ss.Alphabet("ab").with_unk())
    back = pickle.loads(pickle.dumps(corpus))
    assert back == corpus
    assert back.alphabet.unk == "<unk>"
    pairs = ss.PairCorpus(corpus, corpus)
    assert pickle.loads(pickle.dumps(pairs)) == pairs


def test_as_corpus_takes_a_corpus_as_it_is():
    corpus = ss.Corpus.from_sequences(["ab"])
    assert as_corpus(corpus) is corpus
    with pytest.raises(InvalidParameter, match="lengths goes with flat symbols"):
        as_corpus(corpus, lengths=[2])


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        ("abc", "the single string 'abc'"),
        (3, "got int"),
        ([1, 2], "sequence 0 must be a list, tuple, array or string; got 1"),
        ([[["a"]]], "hashable"),
        ([{"a", "b"}], "sequence 0"),
    ],
)
def test_what_is_no_list_of_sequences_is_refused(sequences, message):
    with pytest.raises(InvalidData, match=message):
        ss.Corpus.from_sequences(sequences)


@pytest.mark.parametrize(
    ("symbols", "offsets", "message"),
    [
        ([0, 1], [0, 3], "from 0 to the number of symbols, 2"),
        ([0, 1], [0, 2, 1, 2], "must not decrease"),
        ([0, 5], [0, 2], "between 0 and 1"),
        ([], [], "offsets not empty"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(symbols, offsets, message):
    with pytest.raises(InvalidData, match=message):
        ss.Corpus(symbols, offsets, ss.Alphabet("ab"))


def test_alphabets_have_distinct_hashable_symbols():
    with pytest.raises(InvalidParameter, match="'a' twice"):
        ss.Alphabet("aba")
    with pytest.raises(InvalidData, match="Use tuples"):
        ss.Alphabet([["a"]])
    with pytest.raises(InvalidParameter, match="unk must be one of the symbols"):
        ss.Alphabet("ab", unk="c")


def test_memory_of_a_corpus():
    corpus = ss.Corpus.from_sequences([[1] * 10] * 100)
    assert corpus.nbytes == 4 * 1000 + 8 * 101


def test_pairs_keep_their_sides_together():
    pairs = ss.PairCorpus.from_pairs([("ab", "x"), ("c", "y"), ("", "")])
    assert pairs[1] == (["c"], ["y"])
    assert list(pairs[1:]) == [(["c"], ["y"]), ([], [])]
    assert list(pairs.take([2, 0]))[1] == (["a", "b"], ["x"])
    assert not pairs.is_aligned
    assert ss.PairCorpus.from_pairs([("ab", "xy")]).is_aligned
    part, rest = pairs.split(1 / 3, random_state=1)
    assert (len(part), len(rest)) == (1, 2)


def test_split_parts_the_pairs_in_order():
    pairs = ss.PairCorpus.from_pairs([([i], [-i]) for i in range(20)])
    part, rest = pairs.split(0.25, random_state=0)
    first, second = ([(x, -y) for (x,), (y,) in side] for side in (part, rest))
    assert len(first) == 5
    assert first == sorted(first)
    assert sorted(first + second) == [(i, i) for i in range(20)]


def test_pairs_must_have_two_sides_of_equal_number():
    with pytest.raises(InvalidData, match="pair 0 must have two sides"):
        ss.PairCorpus.from_pairs([("a",)])
    with pytest.raises(InvalidData, match="got 1 and 2"):
        ss.PairCorpus(ss.Corpus.from_sequences(["a"]), ss.Corpus.from_sequences(["a", "b"]))
    with pytest.raises(InvalidData, match="pair 0"):
        ss.PairCorpus.from_pairs([5])


def test_many_rows_are_taken_like_few(monkeypatch):
    rng = np.random.default_rng(0)
    corpus = ss.Corpus.from_sequences([rng.integers(0, 5, size=n).tolist() for n in range(12)])
    rows = rng.integers(-12, 12, size=30)
    few = corpus.take(rows)
    monkeypatch.setattr("sigmastar.corpus.taking.LARGE", 0)
    assert corpus.take(rows) == few
    assert [list(sequence) for sequence in few] == [corpus[int(row)] for row in rows]


@pytest.mark.parametrize("depth", [0, 2])
def test_rows_are_sorted_like_words(depth):
    rng = np.random.default_rng(depth)
    words = ["".join(rng.choice(list("abc"), size=rng.integers(0, 7))) for _ in range(200)] + [""]
    corpus = ss.Corpus.from_sequences(words)
    order = np.array(sorted(range(len(words)), key=lambda i: words[i][:depth]))
    starts = [words[i][:depth] for i in order]
    edges = [i for i in range(1, len(order)) if starts[i] != starts[i - 1]]
    runs = np.array([0, *edges, len(order)])
    sort_rows(corpus.symbols, corpus.offsets, order, runs, depth)
    assert [words[i] for i in order] == sorted(words)
    shared = np.empty(len(words), dtype=np.int32)
    ordered = corpus.take(order)
    shared_prefixes(ordered.symbols, ordered.offsets, shared)
    pairs = zip(["", *sorted(words)], sorted(words), strict=False)
    assert [
        max(n for n in range(8) if one[:n] == other[:n] and n <= min(len(one), len(other)))
        for one, other in pairs
    ] == shared.tolist()


@pytest.mark.parametrize("size", [3, 254, 255, 300])
def test_ascii_text_is_coded_like_any_other(size):
    symbols = [*(chr(c) for c in range(97, 122)), *range(1000)][:size]
    alphabet = ss.Alphabet([*symbols, "<?>"], unk="<?>")
    text = "abc~xyz"
    wanted = [alphabet.index(c) if c in symbols else len(symbols) for c in text]
    assert alphabet.encode(text).tolist() == wanted
    assert alphabet.encode(list(text)).tolist() == wanted
    assert alphabet.raw_codes(text, unknown="ignore").tolist() == [
        code if code < len(symbols) else -1 for code in wanted
    ]
    with pytest.raises(UnknownSymbol, match="'~'"):
        alphabet.encode("ab~", unknown="error")
