"""The estimator that predicts the next symbol by a mixture of all methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, cast

import numpy as np

from sigmastar.automata.estimators.baum_welch import BaumWelchHMM
from sigmastar.automata.estimators.spectral import SpectralWFA
from sigmastar.automata.learn.smoothing import background_of, smooth_hmm
from sigmastar.automata.mixture.learn import Automata, MixtureSettings, learn_mixture
from sigmastar.automata.mixture.model import ContextMixtureModel
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidData
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Choice, Flag, Integer, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.predictor_estimator import PredictorEstimator

__all__ = ["ContextMixture"]

_ONLINE_RATE = 0.002
_LARGEST_CORPUS = 2_000_000  # symbols, above which automata are not tried: they cost too much
_MOST_STATES, _HIDDEN_STATES = 60, 40
_STEPS, _MORE_STEPS = 100, 8
_SMOOTHING = 0.01


@dataclass(eq=False, repr=False)
class ContextMixture(PredictorEstimator):
    """Predict the next symbol by all methods at once: n-grams, other contexts, automata.

    Counts of the last symbols (of every length up to ``order``), of contexts that skip symbols, of
    runs between the most frequent symbol (words, if that is the space) and of the sequence's own
    recent past, and the beliefs of a spectral and a Baum–Welch automaton, are mixed by a logistic
    regression whose weights depend on the context. Weights are learned on the training data, every
    case without its own sequence; automata are kept only if they help on held-out sequences.

    Parameters
    ----------
    order : int
        Length of the longest n-gram: the next symbol and the ``order - 1`` before it.
    ends : bool
        Whether the end of a sequence is predicted like a symbol. Turn it off where sequences are
        cut from running text: ends then mean nothing, and passages that several sequences share
        are learned once.
    automata : {"auto", "none"}
        Whether to try automata, too; "auto" tries them if the data are not too large.
    online : bool
        Whether weights adapt to each sequence as it goes on. A sequence starts from what was
        learned, whatever was scored before it.
    random_state : int, Generator, …
        Seeds the order of learning, the held-out part and the start of Baum–Welch.
    alphabet : Alphabet, optional
        Coding of the symbols; by default that of the data.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols outside the alphabet.

    Attributes
    ----------
    model_ : ContextMixtureModel
        What was learned; it has ``save``.
    info_ : dict
        ``objective``: bits a symbol each time through the data, every case without its own
        sequence; ``loss_with_automata`` and ``loss_without_automata`` on held-out sequences.

    Examples
    --------
    >>> est = ContextMixture(order=3, automata="none", random_state=0).fit(["abab", "ab"] * 20)
    >>> est.predict_next(["aba"])[0][0][0]
    'b'
    """

    order: int = 9
    _: KW_ONLY
    ends: bool = True
    automata: str = "auto"
    online: bool = False
    random_state: RandomState = None
    model_: ContextMixtureModel = field(init=False)

    _rules: ClassVar[Mapping[str, Rule]] = {
        "order": Integer(1, 32),
        "ends": Flag(),
        "automata": Choice("auto", "none"),
        "online": Flag(),
    }

    def _learn(self, corpus: Corpus) -> Learned[ContextMixtureModel]:
        if len(corpus.alphabet) == 0:
            raise InvalidData("X must hold at least one sequence with a symbol; it has none.")
        rng = as_generator(self.random_state)
        settings = MixtureSettings(self.order, online_rate=_ONLINE_RATE if self.online else 0.0)
        tried = self.automata == "auto" and corpus.n_symbols <= _LARGEST_CORPUS and len(corpus) > 1
        automata = _automata(rng.spawn(1)[0]) if tried else None
        return learn_mixture(
            corpus, ends=bool(self.ends), settings=settings, automata=automata, rng=rng
        )


def _automata(rng: np.random.Generator) -> Automata:
    """Learn a spectral automaton and a hidden Markov model: they err in different ways."""

    def learn(corpus: Corpus) -> Sequence[WFA | HMM]:
        spectral = SpectralWFA(max_states=_MOST_STATES).fit(corpus).model_
        hidden = BaumWelchHMM(_HIDDEN_STATES, max_iter=_STEPS, random_state=rng).fit(corpus).model_
        return spectral, hidden

    def finish(models: Sequence[WFA | HMM], corpus: Corpus) -> Sequence[WFA | HMM]:
        spectral, hidden = models
        # Nothing is impossible: the sequences kept back may hold what the others do not.
        start = smooth_hmm(cast(HMM, hidden), _SMOOTHING, background_of(corpus))
        return (
            SpectralWFA(spectral.n_states).fit(corpus).model_,
            BaumWelchHMM(init=start, max_iter=_MORE_STEPS).fit(corpus).model_,
        )

    return Automata(learn, finish)
