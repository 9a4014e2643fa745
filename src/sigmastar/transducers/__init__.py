"""Turn strings into strings: conditional transducers, and transliteration on top of them.

Two problems. Where input and output are equally long, a :class:`Transducer`
(``models/transducer``) holds one operator for every pair of symbols and gives P[y | x]; it is
learned from trigrams of pairs (``moments/trigrams``, ``learn/spectral``) or by EM over lattices
(``moments/lattices``, ``learn/em``). Where lengths differ, ``transliteration`` aligns the pairs
into joint units first and combines several scorers over them.

Read first: ``models/transducer`` and ``learn/spectral``; for unequal lengths
``transliteration/learn``, which says which part does what.
"""
