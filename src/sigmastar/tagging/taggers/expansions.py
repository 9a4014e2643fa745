"""Tokens that are several words: *don't* is *do* and *n't*, French *du* is *de* and *le*.

An expansion cuts letters off the end of a token, adds others, and puts further words after what is
left. Tokens may have expansions of their own; else the longest known ending decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sigmastar.core.errors import InvalidData
from sigmastar.tagging.taggers.lemmatizer import LONGEST_ENDING

__all__ = ["ONE_WORD", "Expansion", "Expansions", "expansion_between"]

_LONGEST_TOKEN = 1 << 10
_MOST_WORDS = 64
_MOST_RULES = 1_000_000


class Expansion(NamedTuple):
    """From a token to its words."""

    cut: int
    add: str
    words: tuple[str, ...]

    def apply(self, token: str) -> tuple[str, ...]:
        """Return the words; a token that the expansion does not fit is one word."""
        if not self.words or self.cut > len(token):
            return (token,)
        first = token[: len(token) - self.cut] + self.add
        if not first:
            return (token,)
        if self.cut == len(token) and token[0].isupper():
            first = first[0].upper() + first[1:]
        rest = token[len(token) - self.cut :]
        if rest.lower() != "".join(self.words).lower() or self.add:
            return (first, *self.words)
        # What was written is kept: DON'T is DO and N'T.
        found = [first]
        for word in self.words:
            found.append(rest[: len(word)])
            rest = rest[len(word) :]
        return tuple(found)


ONE_WORD = Expansion(0, "", ())


def expansion_between(token: str, words: Sequence[str]) -> Expansion:
    """Return the expansion that leads from a token to its words, in lower case."""
    if len(words) < 2:
        return ONE_WORD
    form, first = token.lower(), words[0].lower()
    shared = 0
    while shared < min(len(form), len(first)) and form[shared] == first[shared]:
        shared += 1
    rest = tuple(word.lower() for word in words[1:])
    return Expansion(len(form) - shared, first[shared:], rest)


@dataclass(frozen=True)
class Expansions:
    """Which tokens are several words: by their endings, and tokens of their own."""

    endings: Mapping[str, Expansion] = field(default_factory=dict)
    tokens: Mapping[str, Expansion] = field(default_factory=dict)

    def find(self, token: str) -> Expansion:
        """Return the expansion of a token."""
        lower = token.lower()
        own = self.tokens.get(lower)
        if own is not None:
            return own
        for n in range(min(LONGEST_ENDING, len(lower)), -1, -1):
            found = self.endings.get(lower[len(lower) - n :])
            if found is not None:
                return found
        return ONE_WORD

    def words(self, token: str) -> tuple[str, ...]:
        """Return the words of a token."""
        return self.find(token).apply(token)

    def to_json(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return {
            name: [[text, rule.cut, rule.add, *rule.words] for text, rule in rules.items()]
            for name, rules in (("endings", self.endings), ("tokens", self.tokens))
        }

    @classmethod
    def from_json(cls, value: Any) -> Expansions:
        """Take what a file kept, checking all of it."""
        if not isinstance(value, dict):
            raise InvalidData("the expansions of the model file must be a record.")
        return cls(*(_rules(value.get(name)) for name in ("endings", "tokens")))


def _rules(rows: Any) -> dict[str, Expansion]:
    if not isinstance(rows, list) or len(rows) > _MOST_RULES:
        raise InvalidData(f"expansions must be lists of at most {_MOST_RULES:,} rules.")
    found = {}
    for row in rows:
        if not isinstance(row, list) or len(row) < 3:
            raise InvalidData("an expansion must be a text, a number of letters, and words.")
        text, cut, *texts = row
        fits = isinstance(cut, int) and not isinstance(cut, bool) and 0 <= cut <= _LONGEST_TOKEN
        strings = [text, *texts]
        if not (fits and all(isinstance(x, str) and len(x) <= _LONGEST_TOKEN for x in strings)):
            raise InvalidData("an expansion must be a text, a number of letters, and words.")
        if len(texts) > _MOST_WORDS or not all(texts[1:]):
            raise InvalidData(f"a token must have at most {_MOST_WORDS} words, none of them empty.")
        found[text] = Expansion(cut, texts[0], tuple(texts[1:]))
    return found
