"""Light parsing: phrases marked by a transducer over tags.

A pattern (see fst.patterns) describes a phrase, such as a noun phrase. Sentences are read from
left to right; at each place the longest match is taken. The transducer writes a tag for each tag
it reads: ``NN|B-NP`` begins a phrase, ``NN|I-NP`` goes on with it, ``NN`` is outside. It composes
with a tagger into one machine that tags and brackets at once.

The machine is sequential if a match never has to be given up after arbitrarily many tags: write
``JJ? JJ? JJ?`` instead of ``JJ*`` before a noun that must come.
"""

from __future__ import annotations

from collections.abc import Sequence

from sigmastar.core.errors import InvalidData
from sigmastar.tagging.fst.openfst import NotSequential
from sigmastar.tagging.fst.patterns import TagAlphabet, parse_pattern
from sigmastar.tagging.fst.sequential import Growing, SequentialTransducer

__all__ = ["NOUN_PHRASE", "bracketed", "phrase_transducer"]

NOUN_PHRASE = (
    "(DT | PRP$ | PDT)? (JJ | JJR | JJS | CD | VBN)? (JJ | JJR | JJS | CD | VBG)? JJ? "
    "(NN | NNS | NNP | NNPS)+ | PRP"
)
# Where the scan stands: the pattern's state, tags read since it last accepted, whether it has.
Scan = tuple[int, tuple[int, ...], bool]


def phrase_transducer(
    tags: Sequence[str],
    pattern: str = NOUN_PHRASE,
    *,
    label: str = "NP",
    max_delay: int = 8,
    max_states: int = 100_000,
) -> SequentialTransducer:
    """Build the transducer that marks the phrases of a pattern over the given tags.

    The default is a noun phrase over Penn, Brown or universal tags (those that ``tags`` lacks are
    ignored). ``label`` names the phrase in the output; a match may wait ``max_delay`` tags for its
    decision.
    """
    if pattern == NOUN_PHRASE:
        pattern = _noun_phrase(tags)
    dfa = parse_pattern(pattern, TagAlphabet(tags))
    step: list[dict[int, int]] = [
        {arc.ilabel - 1: arc.nextstate for arc in dfa.arcs(state)} for state in dfa.states()
    ]
    accepting = {s for s in dfa.states() if float(dfa.final(s)) != float("inf")}
    start = int(dfa.start())
    if start < 0 or start in accepting:
        raise InvalidData(f"the pattern {pattern!r} must match at least one tag, and not nothing.")
    n = len(tags)

    def read(scan: Scan, tag: int) -> tuple[Scan, tuple[int, ...]]:
        """Read one tag; return where the scan stands then, and what it writes."""
        state, waiting, matched = scan
        onward = step[state].get(tag)
        if onward is not None:
            held = (*waiting, tag)
            if onward not in accepting:
                return (onward, held, matched), ()
            begin = [held[0] + (2 * n if matched else n)]
            return (onward, (), True), (*begin, *(t + 2 * n for t in held[1:]))
        return settle(waiting, matched, (tag,))

    def settle(
        waiting: tuple[int, ...], matched: bool, more: tuple[int, ...]
    ) -> tuple[Scan, tuple[int, ...]]:
        """Give up the match (or end it); read what was waiting, and more, from anew."""
        written: list[int] = []
        rest = (*waiting, *more)
        if not matched and waiting:
            written.append(waiting[0])
            rest = rest[1:]
        elif not matched:
            return (start, (), False), (more[0],) if more else ()
        scan: Scan = (start, (), False)
        for tag in rest:
            scan, out = read(scan, tag)
            written.extend(out)
        return scan, tuple(written)

    names = [*tags, *(f"{tag}|{place}-{label}" for place in "BI" for tag in tags)]
    first: Scan = (start, (), False)
    grown = Growing(first, names)
    for scan in grown.states:
        row, out = [], []
        for tag in range(n):
            onward, written = read(scan, tag)
            if len(onward[1]) > max_delay or len(grown.states) > max_states:
                raise NotSequential(
                    f"the pattern {pattern!r} is not sequential: a match may have to be given up "
                    f"after more than {max_delay} tags. Bound its repetitions (JJ? JJ? for JJ*)."
                )
            row.append(grown.state(onward))
            out.append(grown.string(written))
        ending: list[int] = []
        waiting, matched = scan[1], scan[2]
        while waiting:
            last, written = settle(waiting, matched, ())
            ending.extend(written)
            waiting, matched = last[1], last[2]
        grown.add(row, out, grown.string(ending))
    return grown.machine(tags)


def _noun_phrase(tags: Sequence[str]) -> str:
    """Write the default pattern, without what the tag set does not have."""
    known = set(tags)
    groups = []
    for group in (
        "DT PRP$ PDT DET at dt pp$ abx",
        "JJ JJR JJS CD VBN ADJ NUM jj jjr jjt ap cd od vbn",
        "JJ JJR JJS CD VBG ADJ jj vbg",
        "JJ ADJ jj",
    ):
        found = [tag for tag in group.split() if tag in known]
        if found:
            groups.append(f"({' | '.join(found)})?")
    nouns = [tag for tag in "NN NNS NNP NNPS NOUN PROPN nn nns np nps".split() if tag in known]
    alone = [tag for tag in "PRP PRON pps ppss ppo pn".split() if tag in known]
    if not nouns:
        raise InvalidData(
            "the default noun phrase needs Penn, Brown or universal tags (NN, nn, NOUN, …). Give a "
            f"pattern of your own: {', '.join(tags[:10])}…"
        )
    phrase = f"{' '.join(groups)} ({' | '.join(nouns)})+"
    return " | ".join([phrase, *alone])


def bracketed(words: Sequence[str], marks: Sequence[str]) -> str:
    """Write a sentence with its phrases in brackets: ``[NP the/DT dog/NN ] barks/VBZ``."""
    pieces: list[str] = []
    inside = False
    for word, mark in zip(words, marks, strict=True):
        tag, bar, phrase = mark.rpartition("|")
        place, dash, label = phrase.partition("-")
        if not bar or not dash or place not in ("B", "I"):
            tag, place = mark, "O"
        if inside and place != "I":
            pieces.append("]")
        if place == "B":
            pieces.append(f"[{label}")
        inside = place != "O"
        pieces.append(f"{word}/{tag}")
    return " ".join([*pieces, "]"] if inside else pieces)
