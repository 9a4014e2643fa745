"""Tag measurements: give every frame of a sensor stream its label.

The problem: frames of numbers in (:class:`~sigmastar.corpus.frames.Frames`), one label a frame
out. The model is a :class:`ContinuousTagger` (``model``): an operator for every label, mixed by the
features of the frame. ``features`` turns raw frames into features, ``moments`` gathers what the
spectral learner needs, ``learn`` has the learners (spectral, EM, Gibbs, frames alone) and the
choice of settings by validation, ``inference`` tags whole sequences, one frame after another, or
by search. ``estimators`` puts them behind the interface of scikit-learn.

Read first: ``model``, then ``moments`` and ``learn/spectral``.
"""
