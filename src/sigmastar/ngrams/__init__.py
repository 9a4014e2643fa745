"""Count n-grams exactly, and predict from them: used by automata and by transducers.

``counts`` holds the integer counts of all windows of a corpus, a commutative monoid: counts of
parts add up to the counts of the whole, bit for bit. ``kneser_ney`` smooths them into the
:class:`NgramModel` of ``model``; ``estimator`` puts that behind the interface of scikit-learn.
"""
