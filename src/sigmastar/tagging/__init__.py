"""Tag text: a hidden Markov model of words and tags, compiled into one transducer.

The problem: give every word of a sentence its tag. The model is a :class:`TagModel` (``model``):
words fall into classes, a class has candidate tags with scores, and tags follow tags by bigram or
trigram scores. All else makes such models, or machines out of them:

=============== ==================================================================================
``kernels``     compiled loops over arrays
``model``       the numbers of a tagger; ``decode`` finds the best tags with them
``lexicon``     words: tables of forms, counts, the guesser of unknown words, classes of words
``fst``         the model as a transducer (n-type, s-type, lazy); rules and phrases over tags
``text``        bytes in, bytes out
``taggers``     what tags sentences: :class:`HMMTaggerModel` and :class:`FSTTagger`, both models
                that files hold; how well they do
``learn``       from tagged sentences (``supervised``), from untagged ones (``baum_welch``), and
                rules from errors (``brill``)
``estimators``  :class:`HMMTagger`: parameters in, an :class:`HMMTaggerModel` out
=============== ==================================================================================

Read first: ``model``, then ``learn.supervised`` (how the scores come about), then ``fst.lazy`` (the
machine that equals Viterbi) and ``fst.stype`` (the one with a table).
"""
