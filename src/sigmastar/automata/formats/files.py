"""Automata in the formats of other programs: which one a file is in, reading, writing."""

from __future__ import annotations

import os

from sigmastar.automata.formats.att import att_text, read_att, symbols_path, symbols_text
from sigmastar.automata.formats.dot import dot_text
from sigmastar.automata.formats.pautomac import pautomac_text, read_pautomac_model
from sigmastar.automata.formats.treba import read_treba, treba_text
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.atomic import atomic_write, atomic_write_all
from sigmastar.core.errors import FileFormatError, InvalidData, InvalidParameter
from sigmastar.core.rules import AnyOf, Choice, Instance, Nothing, check
from sigmastar.corpus.readers.source import Source, base_name

__all__ = ["MODEL_FORMATS", "format_of", "read_automaton", "write_model"]

MODEL_FORMATS = ("sigma", "pautomac", "treba", "att")
_RULE = AnyOf(Nothing(), Choice(*MODEL_FORMATS))
_OPENFST = b"\xd6\xfd\xb2\x7e"  # the first bytes of a binary machine


def format_of(path: str | os.PathLike[str], format: str | None = None) -> str:
    """Tell the format of a model file: as given, by its name, or by its content."""
    check("format", format, _RULE)
    if format is None and os.fspath(path) == "-":
        raise InvalidParameter("format must be given to read a model from standard input.")
    return format or _by_name(path) or _by_content(path)


def read_automaton(path: str | os.PathLike[str], format: str) -> WFA | HMM:
    """Read an automaton from a file of another program."""
    if format == "pautomac":
        return read_pautomac_model(path)
    return read_treba(path) if format == "treba" else read_att(path)


_WRITTEN = (*MODEL_FORMATS, "dot")  # Graphviz draws it; nothing reads it back


def write_model(model: WFA | HMM, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a model file; it appears whole or not at all.

    Parameters
    ----------
    model : WFA, PFA or HMM
        The model. PAutomaC and Treba hold probabilities over integers only; AT&T text holds any
        weights that are not negative, and writes a symbol table beside the file (``NAME.syms``).
    path : str or path
        The file.
    format : {"sigma", "pautomac", "treba", "att", "dot"}, optional
        By default told by the name, as in :func:`sigmastar.read_model`; ``.dot`` is for Graphviz.
    """
    check("format", format, AnyOf(Nothing(), Choice(*_WRITTEN)))
    check("model", model, Instance(WFA, HMM))
    drawn = base_name(path).endswith((".dot", ".gv"))
    format = format or ("dot" if drawn else _by_name(path))
    if format is None:
        raise InvalidParameter(
            f"format must be given for the file name {os.fspath(path)!r}: one of "
            f"{', '.join(_WRITTEN)}. OpenFst files are written by model.to_openfst().write(path), "
            "or sigmastar export."
        )
    if base_name(path) != os.path.basename(os.fspath(path)).lower():
        raise InvalidParameter(
            f"path must not end in .gz or .xz; got {os.fspath(path)!r}. "
            "Compress the file afterwards."
        )
    if format == "sigma":
        model.save(path)
    elif format == "pautomac":
        atomic_write(path, _encoded(path, pautomac_text(as_wfa(model))))
    elif format == "dot":
        atomic_write(path, _encoded(path, dot_text(model)))
    elif format == "treba":
        atomic_write(path, _encoded(path, treba_text(model)))
    else:
        table = symbols_path(path)
        arcs = _encoded(path, att_text(model))
        atomic_write_all({table: _encoded(table, symbols_text(model)), path: arcs})


def _encoded(path: str | os.PathLike[str], text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidParameter(
            f"symbols must be Unicode text to be written to {os.fspath(path)!r}; one holds "
            f"{text[error.start : error.end]!r}. Write a .sigma file, or recode the corpus."
        ) from None


def _by_name(path: str | os.PathLike[str]) -> str | None:
    name = base_name(path)
    if name.endswith(".sigma"):
        return "sigma"
    if name.endswith((".treba", ".fsm")):
        return "treba"
    if name.endswith((".att", ".fst.txt")):
        return "att"
    return "pautomac" if name.endswith("_model.txt") else None


def _by_content(path: str | os.PathLike[str]) -> str:
    with Source(path) as source:
        head = source.head()
    if len(head) > 8 and head[8:9] == b"{" and head[4:8] == b"\0\0\0\0":
        return "sigma"  # safetensors: eight bytes of header length, then JSON
    lines = [line.split() for line in head.decode("utf-8", "replace").split("\n")]
    rows = [words for words in lines if words]
    if rows and rows[0][0] in ("I:", "F:", "S:", "T:"):
        return "pautomac"
    if any(len(words) == 4 and words[1] == ">" for words in rows):
        return "treba"
    if any(len(words) == 5 and words[0].isdigit() and words[1].isdigit() for words in rows):
        return "att"
    if rows and all(1 <= len(words) <= 4 and words[0].isdigit() for words in rows):
        raise InvalidData(
            f"{source.path}: Treba (probabilities) and AT&T text (-log weights) look alike here. "
            'Pass format="treba" or format="att".'
        )
    if head.startswith(_OPENFST):
        raise FileFormatError(
            f"{source.path}: an OpenFst machine. Read it in Python with "
            "sigmastar.automata.formats.openfst.from_openfst(pynini.Fst.read(path))."
        )
    raise FileFormatError(
        f"{source.path}: not a model file of a known format ({', '.join(MODEL_FORMATS)}). "
        "Models are what save, write_model and sigmastar learn -o have written."
    )
