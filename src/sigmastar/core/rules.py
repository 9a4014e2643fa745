"""Parameter rules as data, so that every message about a bad argument has one form.

A rule says which values it accepts and describes itself in words; :func:`check` turns a violation
into an :class:`~sigmastar.core.errors.InvalidParameter` that names parameter, rule and value.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sigmastar.core.errors import InvalidParameter

__all__ = [
    "AnyOf",
    "Choice",
    "Flag",
    "Instance",
    "Integer",
    "Nothing",
    "Real",
    "Rule",
    "check",
    "check_all",
]


class Rule(Protocol):
    """Something that accepts some values and can say which."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value keeps the rule."""

    def describe(self) -> str:
        """Say the rule in words that follow "must be"."""


@dataclass(frozen=True)
class Integer:
    """An integer within bounds (both included)."""

    low: int | None = None
    high: int | None = None

    def accepts(self, value: object) -> bool:
        """Tell whether the value keeps the rule."""
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            return False
        number = int(value)
        return (self.low is None or number >= self.low) and (
            self.high is None or number <= self.high
        )

    def describe(self) -> str:
        """Say the rule in words."""
        if self.low is not None and self.high is not None:
            return f"an integer between {self.low} and {self.high}"
        if self.low is not None:
            return f"an integer of at least {self.low}"
        return "an integer" if self.high is None else f"an integer of at most {self.high}"


@dataclass(frozen=True)
class Real:
    """A finite number within bounds; ``open_low`` / ``open_high`` exclude the bound itself."""

    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False

    def accepts(self, value: object) -> bool:
        """Tell whether the value keeps the rule."""
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer of hundreds of digits
            return False
        if not math.isfinite(number):
            return False
        if self.low is not None and (number < self.low or (self.open_low and number == self.low)):
            return False
        return self.high is None or not (
            number > self.high or (self.open_high and number == self.high)
        )

    def describe(self) -> str:
        """Say the rule in words."""
        parts = []
        if self.low is not None:
            parts.append(f"{'above' if self.open_low else 'at least'} {self.low:g}")
        if self.high is not None:
            parts.append(f"{'below' if self.open_high else 'at most'} {self.high:g}")
        return " ".join(["a finite number", " and ".join(parts)]).strip()


class Choice:
    """One of a few values."""

    def __init__(self, *options: object) -> None:
        self.options = options

    def accepts(self, value: object) -> bool:
        """Tell whether the value keeps the rule."""
        return any(type(value) is type(option) and value == option for option in self.options)

    def describe(self) -> str:
        """Say the rule in words."""
        words = [repr(option) for option in self.options]
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


class Instance:
    """An instance of one of some types; ``words`` replaces the types' names in messages."""

    def __init__(self, *types: type, words: str | None = None) -> None:
        self.types = types
        self.words = words

    def accepts(self, value: object) -> bool:
        """Tell whether the value keeps the rule."""
        return isinstance(value, self.types)

    def describe(self) -> str:
        """Say the rule in words."""
        return self.words or " or ".join(f"a {kind.__name__}" for kind in self.types)


class Flag(Choice):
    """True or False."""

    def __init__(self) -> None:
        super().__init__(True, False)


class Nothing(Choice):
    """None."""

    def __init__(self) -> None:
        super().__init__(None)


class AnyOf:
    """A value that keeps at least one of several rules."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def accepts(self, value: object) -> bool:
        """Tell whether the value keeps the rule."""
        return any(rule.accepts(value) for rule in self.rules)

    def describe(self) -> str:
        """Say the rule in words."""
        return ", or ".join(rule.describe() for rule in self.rules)


def check(name: str, value: Any, rule: Rule, remedy: str = "") -> None:
    """Raise :class:`InvalidParameter` unless the value keeps the rule."""
    if not rule.accepts(value):
        message = f"{name} must be {rule.describe()}; got {value!r}."
        raise InvalidParameter(f"{message} {remedy}".rstrip())


def check_all(values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Check every named value that has a rule."""
    for name, rule in rules.items():
        check(name, values[name], rule)
