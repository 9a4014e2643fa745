"""Tag text: a hidden Markov model of words and tags, compiled into one transducer.

The problem: give every word of a sentence its tag. The model is a :class:`TagModel` (``model``):
words fall into classes, a class has candidate tags with scores, and tags follow tags by trigram
scores. :class:`HMMTagger` (``hmm_tagger``) learns it from tagged text, and :class:`FSTTagger`
(``fst_tagger``) compiles it into a sequential transducer that runs at memory speed.

Read first: ``model``, then ``supervised`` (how the scores are learned from ``counts``, ``guesser``,
``lexical`` and ``ambiguity``), then ``fst`` (the constructions: n-type, s-type, lazy, rules).
``vocabulary`` and ``text`` turn raw text into classes and back.
"""
