"""The form of each side: what counts as one symbol while learning, and the way back.

Korean is written in syllable blocks; decomposed, a letter is a letter again. Accents may be worth a
symbol of their own, or not; capitals may say nothing. Phones of several characters may be one
symbol each, or a base and its modifiers. Which form serves best differs from language to language,
so it is chosen by training words that are held out, kept with the model, and undone on output.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sigmastar.core.types import Symbol
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus

__all__ = [
    "SOURCE_FORMS",
    "TARGET_FORMS",
    "Judge",
    "choose_forms",
    "in_form",
    "in_forms",
    "out_of_form",
    "speller",
]

SOURCE_FORMS = ("given", "composed", "decomposed", "folded")
TARGET_FORMS = ("given", "decomposed", "split")
BETTER = 1.0  # a form is worth its trouble if it is better by so many standard errors
_GLUE = "+"  # marks what continues a phone

Judge = Callable[[PairCorpus], float]


def in_form(corpus: Corpus, form: str) -> Corpus:
    """Write sequences in another form; symbols that are no strings stay as they are.

    Of texts, ``"composed"`` and ``"decomposed"`` are Unicode's NFC and NFD, ``"folded"`` is without
    capitals; ``"split"`` cuts symbols into characters, those that continue one marked as such.
    """
    if form == "composed":
        if not all(isinstance(symbol, str) and len(symbol) == 1 for symbol in corpus.alphabet):
            return corpus
        texts = ["".join(map(str, sequence)) for sequence in corpus]
        composed = [unicodedata.normalize("NFC", text) for text in texts]
        return corpus if composed == texts else Corpus.from_sequences(composed)
    return corpus if form == "given" else _spelled(corpus, _SPELLINGS[form])


def in_forms(
    pairs: PairCorpus, forms: tuple[str, str], *, like: PairCorpus | None = None
) -> PairCorpus:
    """Write the two sides of pairs in forms; ``like`` has the alphabets to code them by."""
    source, target = in_form(pairs.source, forms[0]), in_form(pairs.target, forms[1])
    if like is not None:
        source = source.recode(like.source.alphabet, unknown="ignore")
        target = target.recode(like.target.alphabet, unknown="ignore")
    return PairCorpus(source, target)


def out_of_form(symbols: Iterable[Symbol], form: str) -> list[Symbol]:
    """Return the symbols that were given, of those of a form for outputs."""
    if form == "decomposed":
        return list(unicodedata.normalize("NFC", "".join(map(str, symbols))))
    if form != "split":
        return list(symbols)
    whole: list[Symbol] = []
    for symbol in symbols:
        if isinstance(symbol, tuple) and symbol[:1] == (_GLUE,):
            # A mark without anything before it stands alone: better than to be lost.
            whole.append(str(whole.pop() if whole else "") + str(symbol[1]))
        else:
            whole.append(symbol)
    return whole


def speller(alphabet: Alphabet, form: str, text: bool) -> Callable[[list[int]], Any]:
    """Return what turns the codes of an output into what was given: a string, or a list."""
    names = alphabet.symbols
    if text and form == "given" and all(isinstance(name, str) for name in names):
        letter: Callable[[int], Any] = names.__getitem__
        return lambda codes: "".join(map(letter, codes))

    def spell(codes: list[int]) -> Any:
        symbols = out_of_form([names[code] for code in codes], form)
        return "".join(map(str, symbols)) if text else symbols

    return spell


def choose_forms(
    pairs: PairCorpus, judge: Judge, asked: tuple[str, str] = ("auto", "auto")
) -> tuple[tuple[str, str], dict[str, float]]:
    """Choose the form of the source, then that of the target; return both, and what was tried.

    ``judge`` says which share of pairs a model learned from others gets right. Where a form is
    asked for, none is tried; nor is one that changes nothing or cannot be undone.
    """
    chosen = ["given" if form == "auto" else form for form in asked]
    tried: dict[str, float] = {}
    for side, options in enumerate((SOURCE_FORMS, TARGET_FORMS)):
        if asked[side] != "auto":
            continue
        corpus = (pairs.source, pairs.target)[side]
        for form in options[1:]:
            other = in_form(corpus, form)
            if other is corpus or (side == 1 and not _can_be_undone(corpus, other, form)):
                continue
            for forms in (tuple(chosen), (form, chosen[1]) if side == 0 else (chosen[0], form)):
                name = f"{forms[0]} → {forms[1]}"
                if name not in tried:
                    tried[name] = judge(in_forms(pairs, (forms[0], forms[1])))
            before, after = tried[f"{chosen[0]} → {chosen[1]}"], tried[name]
            noise = np.sqrt(max(before * (1 - before), 1e-9) / max(len(pairs), 1))
            if after > before + BETTER * noise:
                chosen[side] = form
    return (chosen[0], chosen[1]), tried


def _can_be_undone(corpus: Corpus, other: Corpus, form: str) -> bool:
    return all(
        out_of_form(written, form) == given for given, written in zip(corpus, other, strict=True)
    )


def _spelled(corpus: Corpus, spell: Callable[[str], tuple[Symbol, ...]]) -> Corpus:
    """Replace each symbol by those that it is spelled with."""
    symbols = corpus.alphabet.symbols
    pieces = [spell(s) if isinstance(s, str) and s else (s,) for s in symbols]
    if all(piece == (symbol,) for piece, symbol in zip(pieces, symbols, strict=True)):
        return corpus
    alphabet = Alphabet(dict.fromkeys(part for piece in pieces for part in piece))
    codes = np.array([alphabet.index(part) for piece in pieces for part in piece], dtype=np.int32)
    sizes = np.array([len(piece) for piece in pieces], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    counts = sizes[corpus.symbols]
    bounds = np.concatenate([[0], np.cumsum(counts)])
    within = np.arange(bounds[-1]) - np.repeat(bounds[:-1], counts)
    spelled = codes[np.repeat(starts[corpus.symbols], counts) + within]
    return Corpus(spelled, bounds[corpus.offsets], alphabet)


def _letters(symbol: str, spelled: str) -> tuple[Symbol, ...]:
    """Let a character become several, but a word or a phone stay one symbol."""
    return tuple(spelled) if len(symbol) == 1 else (spelled,)


_SPELLINGS: dict[str, Callable[[str], tuple[Symbol, ...]]] = {
    "decomposed": lambda symbol: _letters(symbol, unicodedata.normalize("NFD", symbol)),
    "folded": lambda symbol: _letters(symbol, symbol.casefold()),
    "split": lambda symbol: (symbol[0], *((_GLUE, mark) for mark in symbol[1:])),
}
