"""Distributions over strings: weighted automata, probabilistic automata, hidden Markov models.

The problem: from a sample of strings, learn a machine that scores, predicts and samples strings.
The models are :class:`WFA`, :class:`PFA` and :class:`HMM` (``models``; what one can compute with
them is in ``algebra``, files of other programs in ``formats``). ``moments`` turns n-gram counts
into Hankel blocks, ``learn`` has one file for each method, ``inference`` answers questions through
the prefix tree, ``auto`` searches for the best method within a time budget, ``mixture`` predicts
symbols by automata and n-grams together, and ``estimators`` puts all of it behind the interface of
scikit-learn.

Read first: ``models/wfa``, ``moments/hankel``, ``learn/spectral``; for likelihood
``inference/expected_counts`` and ``learn/baum_welch``.
"""
