"""What Recasens and Quattoni print, typed off a second time, line by line as it stands there."""

from sigmastar.bench.papers import published_sensors as published

TABLE_1 = """
EM:       23 75.36% 76.32%
Bayesian: 5  74.67% 75.90%
CWFST:    31 79.36% 81.12%
FST:      31 67.09% 68.06%
"""
TABLE_2 = """
iters: 1   20   60    80    140   180    200    210    400
time:  14s 300s 1100s 2000s 4200s 5400s  6000s  6400s  10000s
acc.:  68% 74%  73.8% 74.8% 75%   75.36% 75.36% 75.31% 75.17%
"""


def numbers(line):
    return [float(cell.rstrip("%s")) for cell in line.split()[1:]]


def test_table_1_is_the_papers():
    lines = TABLE_1.strip().splitlines()
    expected = {line.split(":")[0]: tuple(numbers(line)) for line in lines}
    assert {name: tuple(row) for name, row in published.TABLE_1.items()} == expected


def test_table_2_is_the_papers():
    columns = zip(*map(numbers, TABLE_2.strip().splitlines()), strict=True)
    assert [tuple(step) for step in published.TABLE_2] == list(columns)


def test_figures_in_the_text_are_the_papers():
    text = "drop to almost 0 after the 34th singular vector; takes less than 30 seconds to train"
    assert f"the {published.LAST_SINGULAR_VALUE}th singular vector" in text
    assert f"less than {published.SPECTRAL_SECONDS} seconds" in text
