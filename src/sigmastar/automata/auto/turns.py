"""Whose turn it is: which track of a search to advance, and which to give up."""

from __future__ import annotations

from collections.abc import Sequence

from sigmastar.automata.auto.chains import ChainTrack
from sigmastar.automata.learn.blocks.growth import Track

__all__ = ["BEHIND", "CHAIN_BEHIND", "AnyTrack", "hopeless", "next_track"]

AnyTrack = Track | ChainTrack

LESS = 4.0  # times that a family must have had less time than the best one to be advanced
# Nats per sequence at which a family is given up: against a model that has no more to choose from,
# and against one of about the same number of states.
BEHIND, FAR_BEHIND = 0.02, 1.0
CLOSE = 0.5  # within which families have the same time
CHAIN_BEHIND = 0.1  # within which a chain that has had its first turn may still catch up


def next_track(tracks: Sequence[AnyTrack], busy: set[int], busy_seconds: float) -> AnyTrack | None:
    """Pick the track to advance: new ones, then the best of the family with least time.

    A family that is behind counts what it had several times; one that is being worked on, by the
    ``id`` of its track, can wait. None if all are settled, given up or busy.
    """
    open_tracks = [
        t
        for t in tracks
        if id(t) not in busy and not t.settled and not (t.size_scores and hopeless(t, tracks))
    ]
    fresh = [t for t in open_tracks if not t.size_scores]
    if fresh:
        return fresh[0]
    if not open_tracks:
        return None
    spent = dict.fromkeys((t.name for t in tracks), 0.0)
    for t in tracks:
        spent[t.name] += t.seconds + (busy_seconds if id(t) in busy else 0.0)
    highest = max(t.score for t in tracks)
    close = {t.name for t in tracks if t.score > highest - CLOSE}
    price = {name: 1.0 if name in close else LESS for name in spent}
    return min(open_tracks, key=lambda t: (price[t.name] * spent[t.name], -t.score))


def hopeless(track: AnyTrack, tracks: Sequence[AnyTrack]) -> bool:
    """Tell whether another family does clearly better with no more to choose from.

    A PFA of n states can do what an HMM of n states can, so it must not be behind one of its
    size; an HMM, which gets close late, must not be clearly behind a PFA of half its size. Chains
    are models of either family that were found another way, and get close soon.
    """
    ahead = [
        (size, score - track.score, other.name)
        for other in tracks
        if other.name != track.name and track.size_scores
        for size, score in other.size_scores.items()
    ]
    if track.name == "chain":
        return any(lead > CHAIN_BEHIND for _, lead, _ in ahead)
    for size, lead, other in ahead:
        late = track.name == "hmm" and other == "pfa"
        fair, most = (0.5, CLOSE) if late else (1.0, BEHIND)
        if lead > most and size <= fair * track.n_states:
            return True
        if lead > FAR_BEHIND and size <= 1.25 * track.n_states:
            return True
    return False
