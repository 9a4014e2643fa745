"""Rules and the marking of phrases as stages that a tagger's output passes through.

A rule whose contexts are single tags or words at most two places away is a stage as it stands;
any other rule, and phrases, are tables of sequential transducers. Every stage must write a tag for
each that it reads, late by a bounded number of tags; :func:`delays` proves that of a table.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.fst.openfst import NotSequential
from sigmastar.tagging.fst.rules import RuleSet
from sigmastar.tagging.fst.sequential import SequentialTransducer
from sigmastar.tagging.kernels.stages import END, TAG_BITS, WORD_BITS, Stages, suits

__all__ = ["delays", "stages_of"]

_MOST_DELAY = 64
_MOST_ENTRIES = 1 << 24


def delays(machine: SequentialTransducer) -> SymbolArray:
    """Return how many symbols each state has read and not written (-1: it is never reached).

    Raises NotSequential if a state does not tell that number, or if the output may end shorter or
    longer than the input.
    """
    targets, outputs = machine.next_states, machine.outputs
    lengths = _string_lengths(machine)
    found = np.full(machine.n_states, -1, np.int64)
    found[0] = 0
    front = np.zeros(1, np.int64)
    while len(front):
        late = found[front][:, None] + 1 - lengths[outputs[front]]
        there = targets[front]
        new = (there >= 0) & (found[there] < 0)
        found[there[new]] = late[new]
        front = np.unique(there[new])
        if (found[front] < 0).any():
            raise NotSequential("the transducer writes more than it has read.")
    reached = found >= 0
    late = found[reached][:, None] + 1 - lengths[outputs[reached]]
    arcs = targets[reached] >= 0
    ends = machine.final[reached]
    if (late != found[targets[reached]])[arcs].any() or (
        (ends >= 0) & (lengths[np.maximum(ends, 0)] != found[reached])
    ).any():
        raise NotSequential("the transducer does not write one symbol for each that it reads.")
    return found.astype(np.int32)


def stages_of(rules: RuleSet | None, phrases: SequentialTransducer | None, n_tags: int) -> Stages:
    """Return the stages of rules and then of phrases.

    Raises NotSequential if one of them has no deterministic form, or is too large.
    """
    n_words = 0 if rules is None else len(rules.alphabet.words)
    most_tags = n_tags if phrases is None else len(phrases.output_symbols)
    if n_words >= 1 << WORD_BITS or most_tags >= 1 << TAG_BITS:
        raise NotSequential(
            f"one transducer may have {(1 << TAG_BITS) - 1:,} tags and rules that name "
            f"{(1 << WORD_BITS) - 1:,} words; there are {most_tags:,} and {n_words:,}."
        )
    chain = _Chain(n_tags, n_words)
    for rule in () if rules is None else rules.rules:
        row = rules.fixed_contexts(rule) if rules is not None else None
        if row is not None:
            chain.add_rule(row)
        elif rules is not None:
            fst, numbers = rules.machine_of(rule)
            try:
                chain.add_table(rules.sequential(fst, int(numbers.max())), numbers)
            except NotSequential as error:
                raise NotSequential(f"rule {str(rule)!r} is not sequential: {error}") from None
    if phrases is not None:
        chain.add_table(phrases, np.zeros(n_words + 1, np.int32))
    return chain.stages()


class _Chain:
    """Stages under construction."""

    def __init__(self, n_tags: int, n_words: int) -> None:
        self.n_tags = n_tags
        self.n_words = n_words
        self.rows: list[int] = []
        self.start: list[list[int]] = []
        self.rules: list[SymbolArray] = []
        self.tables: list[SequentialTransducer] = []
        self.delays: list[SymbolArray] = []
        self.marks: list[SymbolArray] = []

    def add_rule(self, row: SymbolArray) -> None:
        """Add a rule with fixed contexts; before the sentence there is its boundary."""
        near = suits(row[3], row[4], END, self.n_tags)
        holds = near and suits(row[5], row[6], END, self.n_tags)
        self.rows.append(len(self.rules))
        self.rules.append(row)
        self.start.append([int(holds) | int(near) << 1])

    def add_table(self, machine: SequentialTransducer, marks: SymbolArray) -> None:
        """Add a machine that reads tags, block after block for the words that it knows."""
        if (machine.table < 0).any() or (machine.final < 0).any():
            raise NotSequential("the transducer does not read everything.")
        late = delays(machine)
        if late.max() > _MOST_DELAY:
            raise NotSequential(f"the transducer holds back more than {_MOST_DELAY} tags.")
        if machine.table.size + sum(table.table.size for table in self.tables) > _MOST_ENTRIES:
            raise NotSequential(f"the transducers have more than {_MOST_ENTRIES:,} arcs.")
        self.rows.append(-1 - len(self.tables))
        self.tables.append(machine)
        self.delays.append(late)
        self.marks.append(marks)
        self.start.append([0] * (2 + int(late.max())))  # the state, the words, one word more

    def stages(self) -> Stages:
        """Return the stages as the kernels take them."""
        tables = self.tables
        lengths = [_string_lengths(table) for table in tables]
        symbols = [_all_symbols(table) for table in tables]
        # What rules write says the word, too, as a block of tags; phrases come last and are marks.
        for number, table in enumerate(tables):
            if table.output_symbols == table.inputs:
                symbols[number] = symbols[number] % self.n_tags
        nothing = np.zeros(0, np.int64)
        widths = np.array([table.n_inputs for table in tables], np.int64)
        return Stages(
            n_tags=self.n_tags,
            rows=np.array(self.rows, np.int32),
            places=offsets_of([len(part) for part in self.start])[:-1].astype(np.int32),
            start=np.array([number for part in self.start for number in part], np.int64),
            rules=np.array(self.rules, np.int32).reshape(-1, 11),
            widths=widths,
            table_at=offsets_of([table.table.size for table in tables])[:-1],
            final_at=offsets_of([table.n_states for table in tables])[:-1],
            string_at=offsets_of([len(part) for part in lengths])[:-1],
            table=np.concatenate([nothing, *(table.table.ravel() for table in tables)]),
            final=np.concatenate([nothing, *(table.final for table in tables)]).astype(np.int32),
            delays=np.concatenate([nothing, *self.delays]).astype(np.int32),
            string_offsets=offsets_of(np.concatenate([nothing, *lengths])),
            string_symbols=np.concatenate([nothing, *symbols]).astype(np.int32),
            marks=np.array(self.marks, np.int32).reshape(len(tables), self.n_words + 1),
        )


def _string_lengths(machine: SequentialTransducer) -> IndexArray:
    """Return the lengths of all output strings by number: none, single symbols, longer ones."""
    single = np.ones(len(machine.output_symbols), np.int64)
    return np.concatenate(([0], single, np.diff(machine.pool.offsets)))


def _all_symbols(machine: SequentialTransducer) -> IndexArray:
    """Return the symbols of all output strings, string after string."""
    offsets = machine.pool.offsets
    longer = machine.pool.symbols[offsets[0] : offsets[-1]]
    return np.concatenate((np.arange(len(machine.output_symbols)), longer)).astype(np.int64)
