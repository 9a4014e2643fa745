"""Automata in the files of other programs: PAutomaC, Treba, AT&T, OpenFst."""
