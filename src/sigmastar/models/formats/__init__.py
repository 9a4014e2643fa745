"""Model files of other programs: PAutomaC, Treba, AT&T/OpenFst text."""
