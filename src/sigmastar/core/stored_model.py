"""What every model can do: be saved, and show itself in a terminal or a notebook."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from sigmastar.core.model_files import Stored, write_stored
from sigmastar.core.types import FloatArray
from sigmastar.drawing.heatmap import heatmap
from sigmastar.drawing.markup import Markup, element

__all__ = ["MODEL_KINDS", "StoredModel", "model_card"]

MODEL_KINDS: dict[str, type[StoredModel]] = {}  # by the kind written in the file

_LARGEST_PICTURE = 48  # states


class StoredModel:
    """A model with named arrays, a few facts about itself, and perhaps a matrix to look at."""

    kind: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        """Enter the kind into the registry that :func:`sigmastar.load` looks up."""
        super().__init_subclass__(**options)
        if "kind" in cls.__dict__:
            MODEL_KINDS[cls.kind] = cls

    @classmethod
    @abstractmethod
    def from_stored(cls, stored: Stored) -> Self:
        """Rebuild a model from its named arrays and metadata."""

    @abstractmethod
    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what one wants to know at a glance, by name."""

    def picture(self) -> FloatArray | None:
        """Return a matrix that shows how the model moves, if it has one."""
        return None

    def save(
        self, path: str | os.PathLike[str], *, history: Mapping[str, Any] | None = None
    ) -> None:
        """Write to a file that :func:`sigmastar.load` reads; it appears whole or not at all.

        Parameters
        ----------
        path : str or path
            The file, ``.sigma`` by custom.
        history : mapping, optional
            How the model came about, for reports: an estimator's ``info_``.
        """
        write_stored(path, self.to_stored(), history)

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        yield from self.facts().items()

    def _repr_html_(self) -> str:
        return model_card(self.kind, self.facts(), self.picture())


def model_card(kind: str, facts: Mapping[str, Any], matrix: FloatArray | None) -> Markup:
    """Write what a notebook shows of a model: its facts, and a heat-map of its moves."""
    line = "padding:1px 14px 1px 0;text-align:left;font-weight:normal"
    rows = [
        element(
            "tr",
            element("td", name.replace("_", " "), style=line + ";opacity:.65"),
            element("td", fact_text(value), style=line),
        )
        for name, value in facts.items()
    ]
    table = element("table", *rows, style="border-collapse:collapse;font-size:13px")
    picture = None
    if matrix is not None and max(matrix.shape) <= _LARGEST_PICTURE:
        names = [str(i) for i in range(len(matrix))]
        cell = max(4.0, min(18.0, 220.0 / len(matrix)))
        picture = heatmap(
            matrix,
            names if cell >= 12 else [""] * len(names),
            names if cell >= 12 else [""] * len(names),
            title=f"moves between the states of a {kind}",
            cell=cell,
        )
    return element(
        "div",
        element("div", element("b", kind), table),
        picture,
        style="display:flex;gap:28px;flex-wrap:wrap;align-items:flex-start",
    )


def fact_text(value: Any) -> str:
    """Write a fact for people."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
