"""Hidden Markov models over measurements: a few hidden states behind streams of numbers.

The problem: sequences of frames (numbers, counts, codes, several of them together, some missing)
in, the regimes behind them out. The model is a :class:`MeasurementHMM` (``measurement_hmm``): one
Markov chain of states and an emission that says how likely a frame is in each (``model``), which
answers what one asks of it (``asking``).

``emissions`` are interchangeable objects that know densities, expected statistics, their maximum
and samples; ``kernels`` run the chain in scaled linear space; ``inference`` scores, smooths,
decodes, filters, forecasts and samples; ``learn`` has EM, its starts (moments, k-means, random)
and the choice of the number of states; ``estimators`` put it behind the interface of
scikit-learn; ``exchange`` brings models from hmmlearn and back.

Read first: ``model``, ``emissions/base``, then ``inference/smooth`` and ``learn/em``.
"""
