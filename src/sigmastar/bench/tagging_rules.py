"""Second-order taggers beside others, and with learned rules as one transducer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sigmastar.bench.tagging import (
    DataHome,
    MachineFigures,
    Task,
    brown_split,
    measure,
    on_one_core,
)
from sigmastar.core.types import BoolArray, IndexArray, SymbolArray
from sigmastar.datasets import load_ud
from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
from sigmastar.tagging.fst.composed import ComposedTransducer, one_after_the_other
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.learn.brill import held_out_tags, learn_rules
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.sentences import words_of

__all__ = ["PEERS", "CompositionFigures", "accuracies", "compositions", "tagged_english"]

# HunPos on the same splits, in per cent.
PEERS = {"EWT XPOS": 93.55, "EWT UPOS": 93.91, "Brown": 97.31}
_TIMED_WORDS = 1_000_000
_ROUNDS = 12  # a multiple of four: see _on_new_text

Runs = tuple[SymbolArray, IndexArray]


def tagged_english(data_home: DataHome = None) -> Iterator[Task]:
    """Load the tagged English corpora, each with a part for testing."""
    for column in ("xpos", "upos"):
        splits = load_ud("en", column=column, data_home=data_home)  # type: ignore[arg-type]
        if splits.train is not None and splits.test is not None:
            yield Task(f"EWT {column.upper()}", splits.train, splits.test)
    yield Task("Brown", *brown_split(data_home))


@on_one_core
def accuracies(data_home: DataHome = None) -> Iterator[tuple[str, MachineFigures]]:
    """Give the accuracy of second-order taggers, their exact transducers, and these with rules.

    Lines that begin with CRF are those of discriminative training.
    """
    for task in tagged_english(data_home):
        name, train, test = task.name, task.train, task.test
        text = words_of(train)
        for mark, training in (("", "counts"), ("CRF ", "discriminative")):
            hmm = HMMTagger(2, training=training).fit(train)
            codes, starts = hmm.to_classes(words_of(test))
            expected = np.array(hmm.tags_)[hmm.tag_classes(codes, starts)]
            yield name, measure(f"{mark or 'HMM '}order 2", hmm, test)
            lazy = FSTTagger.from_hmm(hmm, "lazy", corpus=text)
            yield name, measure(f"{mark}lazy", lazy, test, expected)
            rules = learn_rules(train, held_out_tags(hmm, train))
            corrected = lazy.with_rules(rules, corpus=text)
            yield name, measure(f"{mark}lazy, {len(rules)} rules", corrected, test)


@dataclass(frozen=True)
class CompositionFigures:
    """Tagger and learned rules as one transducer, beside one after the other.

    ``agreement`` is over all words of the corpus. Speeds are on the test part: when both machines
    have grown on the training part alone (``new``, the median of rounds), and when they know the
    text (``known``).
    """

    corpus: str
    n_rules: int
    n_named_words: int
    n_sentences: int
    n_tokens: int
    agreement: float
    n_states: int
    n_arcs: int
    build_seconds: float
    grow_seconds: float
    new_tokens_per_second: float
    new_cascade_tokens_per_second: float
    known_tokens_per_second: float
    known_cascade_tokens_per_second: float


@on_one_core
def compositions(
    tasks: Iterator[Task] | Sequence[Task], *, min_gain: int = 8
) -> Iterator[CompositionFigures]:
    """Learn rules from the errors of a second-order tagger; compose them with its exact machine."""
    for task in tasks:
        hmm = HMMTagger(2).fit(task.train)
        rules = learn_rules(task.train, held_out_tags(hmm, task.train), min_gain=min_gain)
        lazy = FSTTagger.from_hmm(hmm, "lazy")
        after = LazyTransducer(hmm.trained_model)
        began = time.perf_counter()
        tagger = lazy.with_rules(rules)
        one = tagger.as_one() or ComposedTransducer(tagger.machine, rules)  # or says why not
        build_seconds = time.perf_counter() - began
        _compile(ComposedTransducer(tagger.machine, rules), tagger)
        text = tagger.to_classes(words_of(task.train))
        began = time.process_time()
        one.grow(*text)
        grow_seconds = time.process_time() - began
        after.grow(text[0] % tagger.n_classes, text[1])
        cascade = partial(one_after_the_other, after, tagger.rules, None)
        same = [one.run_aligned(*text) == cascade(*text)]
        codes, starts = tagger.to_classes(words_of(task.test))
        seconds, agrees = _on_new_text(tagger, text, (codes, starts))
        wanted = cascade(codes, starts)
        same.append((one.run_aligned(codes, starts) == wanted) & agrees)
        one.grow(codes, starts)  # not by what it left to others, either
        after.grow(codes % tagger.n_classes, starts)
        same[-1] &= one.run_aligned(codes, starts) == wanted
        yield CompositionFigures(
            corpus=task.name,
            n_rules=len(rules),
            n_named_words=len(rules.alphabet.words),
            n_sentences=len(task.train) + len(task.test),
            n_tokens=sum(map(len, same)),
            agreement=float(np.concatenate(same).mean()),
            n_states=one.n_states,
            n_arcs=one.n_arcs,
            build_seconds=build_seconds,
            grow_seconds=grow_seconds,
            new_tokens_per_second=len(codes) / max(seconds[0], 1e-9),
            new_cascade_tokens_per_second=len(codes) / max(seconds[1], 1e-9),
            known_tokens_per_second=_speed(one.run_aligned, codes, starts),
            known_cascade_tokens_per_second=_speed(cascade, codes, starts),
        )


def _on_new_text(
    tagger: FSTTagger, grown_on: Runs, text: Runs
) -> tuple[tuple[float, float], BoolArray]:
    """Return the seconds of one transducer and of the cascade, and where they agree.

    A text is new once, and takes milliseconds; whoever comes first, or has grown first, finds what
    it needs out of the processor's caches. So fresh machines grow for every round, in each order
    equally often, and medians are told.
    """
    assert isinstance(tagger.machine, LazyTransducer)
    model, rules = tagger.machine.model, tagger.rules
    agrees = np.ones(len(text[0]), np.bool_)
    seconds = np.empty((_ROUNDS, 2))
    for turn in range(_ROUNDS):
        one, after = ComposedTransducer(LazyTransducer(model), rules), LazyTransducer(model)
        for grows_one in (turn // 2 % 2 == 0, turn // 2 % 2 == 1):
            if grows_one:
                one.grow(*grown_on)
            else:
                after.grow(grown_on[0] % tagger.n_classes, grown_on[1])
        runs = (one.run_aligned, partial(one_after_the_other, after, rules, None))
        tags = {}
        for which in (turn % 2, 1 - turn % 2):
            began = time.process_time()
            tags[which] = runs[which](*text)
            seconds[turn, which] = time.process_time() - began
        agrees &= tags[0] == tags[1]
    composed, cascade = np.median(seconds, axis=0)
    return (float(composed), float(cascade)), agrees


def _compile(machine: ComposedTransducer, tagger: FSTTagger) -> None:
    """Run all kernels on one word, so that no time is taken of the compiler."""
    codes, starts = tagger.to_classes([["."]])
    machine.run_aligned(codes, starts)
    machine.one_after_the_other(codes, starts)
    machine.grow(codes, starts)


def _speed(
    run: Callable[[SymbolArray, IndexArray], SymbolArray], codes: SymbolArray, starts: IndexArray
) -> float:
    """Return the tokens a second of machines that know the text."""
    rounds = max(1, _TIMED_WORDS // max(1, len(codes)))
    began = time.process_time()
    for _ in range(rounds):
        run(codes, starts)
    return rounds * len(codes) / max(time.process_time() - began, 1e-9)
