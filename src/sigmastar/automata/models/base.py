"""What WFA and HMM share: states and symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sigmastar.automata.models.questions import Answering
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.coded_model import CodedModel

__all__ = ["StateModel"]


class StateModel(Answering, CodedModel):
    """A model of one alphabet; facts about its arrays may name the size ``symbols``."""

    alphabets: ClassVar[Mapping[str, str]] = {"alphabet": "symbols"}

    alphabet: Alphabet

    @property
    def n_symbols(self) -> int:
        """How many symbols the alphabet has."""
        return len(self.alphabet)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_states={self.n_states}, n_symbols={self.n_symbols})"

    def _repr_svg_(self) -> str | None:
        from sigmastar.automata.formats.picture import state_svg

        return state_svg(self)  # type: ignore[arg-type]

    def to_openfst(self) -> Any:
        """Return a ``pynini.Fst`` over the log semiring (extra ``fst``); no weight may be < 0."""
        from sigmastar.automata.formats.openfst import to_openfst

        return to_openfst(self)
