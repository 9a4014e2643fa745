"""What comes after a tagger: stages that each read tags and write as many, with bounded delay.

A tag travels with the mark of its word: ``mark << TAG_BITS | tag`` (0: a word that no rule names).
A stage is a rule with fixed contexts, kept as the row of kernels.rules, or a table of a sequential
transducer. What a chain of stages has yet to remember after some tags is a row of 64-bit numbers:

- a rule: whether its left context holds here, whether the last tag fits two places to the left,
  and up to two tags that wait for what follows;
- a table: its state, and the marks of the words whose tags it holds back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray

__all__ = ["END", "TAG_BITS", "WORD_BITS", "Stages", "pass_on"]

TAG_BITS = 15
WORD_BITS = 13  # two tags with their words, their number and two flags fit into 64 bits
END = -1  # what follows the last word
_TAG = (1 << TAG_BITS) - 1
_WAITING = (1 << (TAG_BITS + WORD_BITS)) - 1
_SECOND = TAG_BITS + WORD_BITS + 4


class Stages(NamedTuple):
    """The stages in order, and the tables of those that have one, end to end.

    Stage s has row ``rows[s]`` of the rules, or, if that is negative, the table ``-1 - rows[s]``;
    what it remembers begins at ``places[s]``. Table m has ``widths[m]`` inputs; its packed rows
    begin at ``table_at[m]``, its final strings at ``final_at[m]`` and its strings at
    ``string_at[m]``. ``marks[m, w]`` is the block of its inputs for word w, ``delays`` how many
    tags each of its states holds back.
    """

    n_tags: int
    rows: SymbolArray
    places: SymbolArray
    start: IndexArray  # what is remembered at the beginning of a sentence
    rules: SymbolArray  # (rules, 11)
    widths: IndexArray
    table_at: IndexArray
    final_at: IndexArray
    string_at: IndexArray
    table: IndexArray
    final: SymbolArray
    delays: SymbolArray
    string_offsets: IndexArray
    string_symbols: SymbolArray
    marks: SymbolArray  # (tables, words + 1)


@kernel
def suits(tag: Int, word: Int, symbol: Int, boundary: Int) -> bool:
    """Tell whether a symbol has the tag and the word that a rule wants (-1: any)."""
    if symbol == END:  # outside of the sentence the tag is the boundary, and no word stands there
        return bool((tag < 0 or tag == boundary) and word < 0)
    return bool((tag < 0 or tag == symbol & _TAG) and (word < 0 or word == symbol >> TAG_BITS))


@kernel
def apply_rule(
    rule: SymbolArray, held: Int, symbol: Int, boundary: Int, out: SymbolArray, n_out: Int
) -> tuple[Int, Int]:
    """Read one symbol; write what is decided after ``n_out``. Return what is held, and how much.

    ``held``: flags of the left context (bit 0: it holds; bit 1: the last tag fits two places to
    the left), how many symbols wait (bits 2 and 3), and these.
    """
    holds = held & 1
    near = held >> 1 & 1
    n = held >> 2 & 3
    first = held >> 4 & _WAITING
    second = held >> _SECOND & _WAITING
    third = np.int64(END)
    if n == 0:
        first = np.int64(symbol)
    elif n == 1:
        second = np.int64(symbol)
    else:
        third = np.int64(symbol)
    ended = symbol == END
    if not ended:
        n += 1
    while n > 0:
        head = first
        if holds and suits(rule[0], rule[2], head, boundary):
            fits = True
            if rule[7] >= 0 or rule[8] >= 0:
                if n < 2 and not ended:
                    break
                fits = suits(rule[7], rule[8], second if n > 1 else END, boundary)
            if fits and (rule[9] >= 0 or rule[10] >= 0):
                if n < 3 and not ended:
                    break
                fits = suits(rule[9], rule[10], third if n > 2 else END, boundary)
            if fits:
                head += rule[1] - rule[0]
        out[n_out] = head
        n_out += 1
        holds = near & np.int64(suits(rule[5], rule[6], head, boundary))
        near = np.int64(suits(rule[3], rule[4], head, boundary))
        first = second
        second = third
        n -= 1
    held = holds | near << 1 | n << 2
    if n > 0:
        held |= first << 4
    if n > 1:
        held |= second << _SECOND
    return held, n_out


@kernel
def apply_table(
    m: Int, stages: Stages, held: IndexArray, symbol: Int, out: SymbolArray, n_out: Int
) -> Int:
    """Read one symbol by the table m; write what it writes after ``n_out``, return how much."""
    state = held[0]
    n = np.int64(stages.delays[stages.final_at[m] + state])
    if symbol == END:
        number = np.int64(stages.final[stages.final_at[m] + state])
    else:
        mark = symbol >> TAG_BITS
        code = (symbol & _TAG) + stages.n_tags * stages.marks[m, mark]
        packed = stages.table[stages.table_at[m] + state * stages.widths[m] + code]
        held[0] = packed >> 32
        number = packed & 0xFFFFFFFF
        held[1 + n] = mark
        n += 1
    string = stages.string_at[m] + number
    begin = stages.string_offsets[string]
    written = stages.string_offsets[string + 1] - begin
    for x in range(written):
        out[n_out + x] = held[1 + x] << TAG_BITS | stages.string_symbols[begin + x]
    for x in range(1, 1 + n - written):
        held[x] = held[x + written]
    for x in range(1 + n - written, 1 + n):
        held[x] = 0
    return np.int64(n_out + written)


@kernel
def pass_on(symbol: Int, stages: Stages, held: IndexArray, buffers: SymbolArray) -> Int:
    """Pass one symbol, or the end, through all stages; return how many symbols come out.

    What each stage remembers is changed in place; at the end they write all that they held back.
    What comes out stands in ``buffers[0]``. There are two buffers with room for the symbol and all
    that is held back.
    """
    n: Int = np.int64(0)
    if symbol != END:
        buffers[len(stages.rows) & 1, 0] = symbol
        n = np.int64(1)
    for s in range(len(stages.rows)):
        row = stages.rows[s]
        place = stages.places[s]
        source = buffers[(len(stages.rows) - s) & 1]
        target = buffers[(len(stages.rows) - s - 1) & 1]
        n_out: Int = np.int64(0)
        for i in range(n + 1 if symbol == END else n):
            read = np.int64(source[i]) if i < n else np.int64(END)
            if row >= 0:
                held[place], n_out = apply_rule(
                    stages.rules[row], held[place], read, stages.n_tags, target, n_out
                )
            else:
                n_out = apply_table(-1 - row, stages, held[place:], read, target, n_out)
        n = n_out
    return n
