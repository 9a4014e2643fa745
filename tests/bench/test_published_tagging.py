"""The figures of Kempe (1997): transcribed here once more, row by row as the paper has them."""

from sigmastar.bench.papers.published_tagging import FIGURE_2, LANGUAGES, MACHINES

# Table 1: accuracy, words a second, states, arcs, time.
TABLE_1 = """
HMM          96.77  4590  -      -         -
n0           83.53 20582  1      297       16 sec
n1           94.19 17244  71     21087     17 sec
s+n1 20K F1  94.74 13575  927    203853    3 min
s+n1 50K F1  94.92 12760  2675   564887    10 min
s+n1 100K F1 95.05 12038  4709   976785    23 min
s+n1 100K F2 94.76 14178  476    107728    2 min
s+n1 100K F4 94.60 14178  211    52624     76 sec
s+n1 100K F8 94.49 13870  154    41598     62 sec
s+n1 1M F2   95.67 11393  2049   418536    7 min
s+n1 1M F4   95.36 11193  799    167952    4 min
s+n1 1M F8   95.09 13575  432    96712     3 min
s+n1 ≤2      95.06  8180  9796   1311962   39 min
s+n1 ≤3      95.95  4870  92463  13681113  47 h
"""
# Table 2; the last rows are words for training and for testing, tags and classes.
TABLE_2 = """
             English Dutch French German Portuguese Spanish
HMM          96.77   94.76 98.65  97.62  97.12      97.60
n0           83.53   81.99 91.13  82.97  91.03      93.65
n1           94.19   91.58 98.18  94.49  96.19      96.46
s+n1 20K F1  94.74   92.17 98.35  95.23  96.33      96.71
s+n1 50K F1  94.92   92.24 98.37  95.57  96.49      96.76
s+n1 100K F1 95.05   92.36 98.37  95.81  96.56      96.87
s+n1 100K F2 94.76   92.17 98.34  95.51  96.42      96.74
s+n1 100K F4 94.60   92.02 98.30  95.29  96.27      96.64
s+n1 100K F8 94.49   91.84 98.32  95.02  96.23      96.54
s+n1 ≤2      95.06   92.25 98.37  95.92  96.50      96.90
training     19944   26386 22622  91060  20956      16221
testing      19934   10468 6368   39560  15536      15443
tags         74      47    45     66     67         55
classes      297     230   287    389    303        254
"""
# Figure 2.
SENTENCE = """
The [AT] AT
share [NN,VB] NN
of [IN] IN
tripled [VBD,VBN] VBD
within [IN,RB] IN
that [CS,DT,WPS] DT
span [NN,VB,VBD] VBD
of [IN] IN
time [NN,VB] NN
. [SENT] SENT
"""
SECONDS = {"sec": 1, "min": 60, "h": 3600}


def test_table_1_is_that_of_the_paper():
    found = {}
    for line in TABLE_1.strip().splitlines():
        name, rest = line[:13].strip(), line[13:].split()
        if rest[2] == "-":
            found[name] = (float(rest[0]), int(rest[1]), None, None, None)
        else:
            seconds = int(rest[4]) * SECONDS[rest[5]]
            found[name] = (float(rest[0]), *map(int, rest[1:4]), seconds)
    assert {name: tuple(row) for name, row in MACHINES.items()} == found


def test_table_2_is_that_of_the_paper():
    head, *lines = TABLE_2.strip("\n").splitlines()
    columns = {language: {} for language in head.split()}
    for line in lines:
        name, cells = line[:13].strip(), line[13:].split()
        for column, cell in zip(columns.values(), cells, strict=True):
            column[name] = float(cell)
    assert list(LANGUAGES) == list(columns)
    for language, column in LANGUAGES.items():
        sizes = dict(zip(("training", "testing", "tags", "classes"), column[1:], strict=True))
        assert {**column.accuracy, **sizes} == columns[language]


def test_figure_2_is_that_of_the_paper():
    assert list(FIGURE_2) == [tuple(line.split()) for line in SENTENCE.strip().splitlines()]
