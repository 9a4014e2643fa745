"""The search over data in parts: on a sample that fits, then the winner is trained on all.

Which method and which size do best is seen on some thousand sequences; what more of them give is
better parameters. So the search has a sample, every sequence of which is drawn by its number, and
a PFA or HMM that comes out of it takes a few steps of Baum–Welch over all parts. Any other winner
stays as the sample taught it.
"""

from __future__ import annotations

from collections.abc import Callable

from sigmastar.automata.learn.baum_welch import BaumWelchSettings, learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import Family, HMMFamily, PFAFamily
from sigmastar.automata.learn.em_start import start_from
from sigmastar.automata.learn.smoothing import background_of, smooth_hmm, smooth_pfa
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.partitions import Partitions

__all__ = ["learn_auto_of_parts"]

SAMPLE = 50_000  # sequences that the search sees
_STEPS = 10
_UNSEEN = 1e-4  # share of what the sample did not show, so that no sequence is impossible


def learn_auto_of_parts(
    data: Partitions,
    search: Callable[[Corpus], Learned[WFA | HMM]],
    random_state: RandomState,
) -> Learned[WFA | HMM]:
    """Search on a sample, then train the winner on all parts.

    ``info`` is that of the search, with ``sampled`` (how many sequences it saw) and, where there
    was something to train, ``objective`` after each step over all of them.
    """
    seed = int(as_generator(random_state).integers(2**63))
    sample = data[:] if len(data) <= SAMPLE else data.split(SAMPLE / len(data), seed)[0][:]
    learned = search(sample)
    info = {**learned.info, "sampled": len(sample)}
    model = learned.model
    background = background_of(data)
    if isinstance(model, HMM):
        family: Family = HMMFamily()
        model = smooth_hmm(model, _UNSEEN, background)
    elif isinstance(model, PFA):
        family = PFAFamily()
        model = smooth_pfa(model, _UNSEEN, background)
    else:
        return Learned(model, info)
    trained = learn_baum_welch(
        data,
        family,
        model.n_states,
        start=start_from(model, family, sample),
        settings=BaumWelchSettings(max_iter=_STEPS),
    )
    return Learned(trained.model, {**info, "objective": trained.info["objective"]})
