"""Words and what they may be: tables of forms, counts, the guesser, classes of words."""
