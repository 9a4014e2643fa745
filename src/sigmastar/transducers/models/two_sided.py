"""What transducers with states share: two alphabets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.coded_model import CodedModel
from sigmastar.transducers.models.questions import Transducing

__all__ = ["TwoSided"]


class TwoSided(Transducing, CodedModel):
    """A model that reads one alphabet and writes another.

    Facts about its arrays may name the sizes ``inputs`` and ``outputs``.
    """

    alphabets: ClassVar[Mapping[str, str]] = {
        "input_alphabet": "inputs",
        "output_alphabet": "outputs",
    }

    input_alphabet: Alphabet
    output_alphabet: Alphabet

    @property
    def n_inputs(self) -> int:
        """How many symbols the input alphabet has."""
        return len(self.input_alphabet)

    @property
    def n_outputs(self) -> int:
        """How many symbols the output alphabet has."""
        return len(self.output_alphabet)

    def __repr__(self) -> str:
        return (
            f"{self.kind}(n_states={self.n_states}, n_inputs={self.n_inputs}, "
            f"n_outputs={self.n_outputs})"
        )

    def facts(self) -> dict[str, Any]:
        """Return the sizes and the two alphabets."""
        reads, writes = self.input_alphabet.shown(), self.output_alphabet.shown()
        return {"states": self.n_states, "reads": reads, "writes": writes}
