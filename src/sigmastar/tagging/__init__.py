"""Part-of-speech taggers: lexicon, guesser, HMM, compiled transducers."""
