"""Predict the next symbol by mixing n-grams, skipping contexts, the recent past and automata.

``learn`` says how it comes about, ``mixer`` how answers are mixed. Below them: ``code_tree`` turns
a symbol into questions, ``contexts`` hashes what a prediction looks at, ``tables`` counts it,
``evidence`` gathers what each expert knows at a place, ``passes`` go over sequences; ``model`` is
the result, ``checks`` what a file of it must keep to.
"""
