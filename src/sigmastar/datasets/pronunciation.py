"""Words and their pronunciations in fifteen languages: the SIGMORPHON task of 2020."""

from __future__ import annotations

from sigmastar.core.rules import Choice, check
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.corpus.readers.api import read_pairs
from sigmastar.datasets import sources
from sigmastar.datasets.problem import Splits
from sigmastar.datasets.store import DataHome, find_file

__all__ = ["PRONUNCIATIONS", "load_pronunciation"]

PRONUNCIATIONS = {
    "ady": "Adyghe",
    "arm": "Armenian",
    "bul": "Bulgarian",
    "dut": "Dutch",
    "fre": "French",
    "geo": "Georgian",
    "gre": "Modern Greek",
    "hin": "Hindi",
    "hun": "Hungarian",
    "ice": "Icelandic",
    "jpn": "Japanese (hiragana)",
    "kor": "Korean",
    "lit": "Lithuanian",
    "rum": "Romanian",
    "vie": "Vietnamese",
}


def load_pronunciation(language: str, *, data_home: DataHome = None) -> Splits[PairCorpus]:
    """Load words of a language, as characters, and their phones: 3,600 / 450 / 450.

    Parameters
    ----------
    language : str
        Three letters: ady, arm, bul, dut, fre, geo, gre, hin, hun, ice, jpn, kor, lit, rum or vie.
    data_home : path, optional
        Where to look first, and where to put what is downloaded.

    Notes
    -----
    From Wiktionary (CC BY-SA) by WikiPron, for Gorman et al., *The SIGMORPHON 2020 shared task on
    multilingual grapheme-to-phoneme conversion*. Some words occur with several pronunciations.
    """
    check("language", language, Choice(*PRONUNCIATIONS))
    parts = [
        read_pairs(find_file(sources.pronunciation(language, part), data_home), target="words")
        for part in ("train", "dev", "test")
    ]
    return Splits(parts[0], parts[1], parts[2], name=f"g2p-{language}")
