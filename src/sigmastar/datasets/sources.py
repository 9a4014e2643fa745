"""The pinned public source of every file the loaders use."""

from __future__ import annotations

from sigmastar.datasets import derive
from sigmastar.datasets.store import DataFile

__all__ = ["brown", "pautomac", "ptb_tags", "transliteration", "treebank", "wall_following"]
__all__ += ["pronunciation", "spice", "wikipedia_text"]

_SPECTRAL_LEARN = (
    "ICML14MoMCompare/spectral-learn/91e70bc88726ee680ec6e8cbc609977db3fdcff9/datasets"
)
_SPICE = "thinkzhou/SPICE/3067faeb4d7b1cb37d8388b04b2823e7fdec3e2c/SPiCe_Offline"
_NAMES = "steveash/NETransliteration-COLING2018/5d5f59e561ecea45a6d3602121e1049baa7a76c3/data"
_SOUNDS = "sigmorphon/2020/3d9bb3658b6a964ccd127e2a6781665262516bf6/task1/data"
_BROWN = "nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora/brown.zip"
_WIKIPEDIA = "jason-feng/wikiVisual/1c0fac92f29f17c1603bfffbe864e0dfdff66897/text/AA"
_ROBOT = (
    "Transcendence-ML-Python/robot-sensor-data-classification-ml/"
    "e52136804029a0360eb7a4e6f3dbddf11722debd/sensor_readings_24.data"
)
_GERMAN_UTB = "zouharvi/hmm-rust/a2cf1a45f4fcfe8240894d218c10f7e812922901/data"
_TREEBANKS = {
    "en_ewt": "UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb",
    "fr_gsd": "UD_French-GSD/830e2782304af08b3cc1c9250475343e04274d81",
    "fr_partut": "UD_French-ParTUT/4d0c8351842f93be11b50fd08ea7b2b4b9101c01",
    "fr_sequoia": "UD_French-Sequoia/f5b049600c89d2cf15ebbec860f75d703884d32b",
    "de_gsd": "UD_German-GSD/297fcf350481058d0737a27f0f8fd03b2eadd67a",
    "de_lit": "UD_German-LIT/702e5734b1a813a8403146a8076bd9d5c8209b84",
    "nl_lassysmall": "UD_Dutch-LassySmall/7880e0bc4c8138607c8e9724db2294dc89d4e2b5",
    "es_gsd": "UD_Spanish-GSD/57c045644664e5c1e169263cc4e3b95e40c078ba",
    "pt_bosque": "UD_Portuguese-Bosque/5de7ac34028ff6d1718031a4b0ae895717ed8dbe",
}
_NAME_PARTS = {"train": ("64", 5977), "dev": ("16", 943), "test": ("20", 1000)}


def pautomac(number: int, suffix: str) -> DataFile:
    """Return the file ``N.pautomac<suffix>``."""
    name = f"{number}.pautomac{suffix}"
    return DataFile("pautomac", name, [f"{_SPECTRAL_LEARN}/PAutomaC-competition_sets/{name}"])


def spice(number: int, suffix: str) -> DataFile:
    """Return the file ``N.spice<suffix>``."""
    name = f"{number}.spice{suffix}"
    return DataFile("spice", name, [f"{_SPICE}/{name}"])


def ptb_tags() -> DataFile:
    """Return the file of Penn Treebank tag sequences."""
    return DataFile("ptb-tags", "treebankdata.obs", [f"{_SPECTRAL_LEARN}/treebankdata.obs"])


def wall_following() -> DataFile:
    """Return the file of sensor readings."""
    return DataFile("wall-following", "sensor_readings_24.data", [_ROBOT])


def pronunciation(language: str, part: str) -> DataFile:
    """Return the words of a language with their phones."""
    name = f"{language}_{part}.tsv"
    return DataFile("g2p-sigmorphon-2020", name, [f"{_SOUNDS}/{part}/{name}"])


def transliteration(part: str, size: str) -> DataFile:
    """Return the name pairs of a part, all of them or as many as NEWS 2009 had."""
    number, count = _NAME_PARTS[part]
    source = [f"{_NAMES}/wd_russian_{number}"]
    if size == "full":
        return DataFile("transliteration-en-ru", f"wd_russian_{number}.tsv", source)
    derived = derive.news_sized(count)
    return DataFile("transliteration-en-ru", f"news-size-{part}.tsv", source, derived)


def treebank(name: str, part: str) -> DataFile:
    """Return the words and tags of a part of a treebank."""
    if name == "de_utb":
        part = "eval" if part == "test" else part
        source = f"{_GERMAN_UTB}/de-{part}.tt"
        return DataFile("ud", f"de_utb-{part}.tsv", [source], derive.columns_of_pairs)
    source = f"UniversalDependencies/{_TREEBANKS[name]}/{name}-ud-{part}.conllu"
    return DataFile("ud", f"{name}-{part}.tsv", [source], derive.columns_of_conllu)


def brown() -> tuple[DataFile, DataFile]:
    """Return the tagged sentences, and the list of documents."""
    return (
        DataFile("brown", "brown.txt", [_BROWN], derive.brown_text),
        DataFile("brown", "brown-documents.tsv", [_BROWN], derive.brown_documents),
    )


def wikipedia_text() -> DataFile:
    """Return the text of 769 articles."""
    parts = [f"{_WIKIPEDIA}/wiki_{number:02d}" for number in range(12)]
    return DataFile("wikipedia-text", "enwiki-2015.txt", parts, derive.wikipedia_articles)
