"""Which sizes chains climb with: a ladder for each family, then sizes beside the best.

A machine of fewer states than the true one cannot do its work, and one of more has room for what it
needs not and loses by it. Nobody knows the number beforehand. So small and large ones climb first,
the small ones in less time; then sizes between, and the same again from other states, about what
has come out best.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from sigmastar.automata.auto.chains import ChainTrack
from sigmastar.automata.auto.turns import AnyTrack

__all__ = ["LADDER", "beside", "best_of", "climbing_share"]

LADDER = (("pfa", 64), ("hmm", 40), ("pfa", 24), ("hmm", 16))
CLIMB = 0.045  # share of the budget for the climb of a machine of ``MIDDLE`` states
MIDDLE = 24
FACTORS = (0.7, 1.4, 1.0, 0.84, 1.2)  # of the best size, to climb with
ALIKE = 1.1  # sizes nearer to each other are the same
EVEN = 0.003  # nats per sequence within which the smaller machine is the better one


def climbing_share(size: int) -> float:
    """Return the share of the budget for a climb: a sweep takes longer, and more are needed."""
    return CLIMB * float(min(max(size / MIDDLE, 0.4), 4.0) ** 0.5)


def best_of(tracks: Sequence[AnyTrack]) -> AnyTrack:
    """Return the smallest of those that are as good as even with the best."""
    best = max(track.score for track in tracks)
    near = [track for track in tracks if track.score >= best - EVEN]
    return min(near, key=lambda track: track.n_states)


def beside(tracks: Sequence[AnyTrack]) -> tuple[str, int, int]:
    """Return family, size and number of the next climb: what was least tried about the best.

    The best is what any track has shown so far; what one is being stirred for has no score yet.
    """
    shown = [(track, n, score) for track in tracks for n, score in track.size_scores.items()]
    highest = max(score for _, _, score in shown)
    best, n_states, _ = min((one for one in shown if one[2] >= highest - EVEN), key=itemgetter(1))
    family = _family(best)
    climbed = [t.n_states for t in tracks if isinstance(t, ChainTrack) and t.family == family]

    def tries(size: int) -> int:
        return sum(max(size, other) <= ALIKE * min(size, other) for other in climbed)

    sizes = [max(round(factor * n_states), 2) for factor in FACTORS]
    size = min(sizes, key=tries)  # the first of those that were tried least
    return family, size, len(climbed)


def _family(track: AnyTrack) -> str:
    return track.family if isinstance(track, ChainTrack) else track.name
