"""Published figures on automata, compared with a transcription of the papers' tables."""

import re

from sigmastar.bench import pautomac_truth, published

# Balle, Hamilton, Pineau (2014): kind, problem, whether symbols are as many as states, then
# Spec-Str, Spec-Sub, CO, Tensor, EM, EM-Tensor and True, each with its size (for CO its weight).
TABLE_2 = """
HMM 1 no 80.3 (72) 71.3 (31) 89.8 (1e-5) 86.4 (3) 75.7 (10) 78.2 (3) 68.8 (63)
HMM 14 no 70.0 (6) 70.2 (10) 85.2 (1e-5) 89.4 (3) 68.6 (20) 75.5 (3) 68.4 (15)
HMM 33 yes 78.7 (3) 76.7 (3) 95.3 (1e-3) 83.6 (3) 74.3 (20) 76.7 (3) 74.1 (13)
HMM 45 yes 80.2 (2) 80.1 (10) 90.1 (1e-5) 87.9 (3) 78.1 (10) 70.1 (3) 78.1 (14)
PA 29 no 65.7 (70) 47.3 (41) 67.1 (1e-3) 88.7 (3) 49.2 (40) 74.1 (3) 47.2 (36)
PA 39 yes 66.2 (32) 62.0 (30) 83.4 (1e-5) 93.2 (4) 63.3 (30) 71.3 (4) 59.3 (6)
PA 43 no 83.4 (10) 78.0 (12) 89.2 (1e-5) 89.3 (3) 77.4 (40) 78.1 (3) 77.1 (67)
PA 46 yes 90.7 (20) 79.3 (20) 95.7 (1e-5) 95.5 (4) 77.5 (40) 80.4 (4) 77.3 (19)
DPA 6 no 62.0 (20) 50.2 (68) 78.1 (1e-5) 59.7 (5) 47.4 (40) 59.7 (5) 46.9 (19)
DPA 7 yes 95.7 (10) 50.6 (20) 66.0 (1e-3) 81.4 (4) 48.1 (40) 87.2 (4) 48.3 (12)
DPA 27 no 83.1 (50) 75.5 (22) 91.3 (1e-4) 92.1 (7) 83.0 (10) 83.8 (7) 73.0 (19)
DPA 42 yes 67.8 (40) 61.4 (16) 73.9 (1e-4) 92.5 (5) 58.1 (40) 75.7 (5) 56.6 (6)
"""
TABLE_3 = """
HMM 1 no 1e9 (40) 441.07 (8) 44.77 (1e-5) 66.8 (3) 500.1 (30) 126.14 (3) 29.90 (63)
HMM 14 no 306.30 (1) 133.71 (30) 128.53 (1e-3) 253.44 (3) 116.84 (20) 133.09 (3) 116.80 (15)
HMM 33 yes 51.14 (3) 49.22 (4) 57.05 (1e-5) 60.04 (3) 32.14 (10) 32.21 (3) 31.87 (13)
HMM 45 yes 1e6 (70) 31.87 (19) 36.6 (1e-5) 40.47 (7) 107.75 (40) 62.24 (7) 24.04 (14)
PA 29 no 1e5 (41) 39.32 (49) 34.57 (1e-4) 1e14 (3) 25.09 (40) 80.55 (3) 24.03 (36)
PA 39 yes 8170.69 (8) 42.8 (30) 11.24 (1e-2) 22.42 (5) 10.43 (5) 11.34 (5) 10.00 (6)
PA 43 no 1e6 (2) 115.62 (4) 36.61 (1e-2) 36.90 (3) 461.23 (40) 56.94 (3) 32.64 (67)
PA 46 yes 44.12 (2) 34.51 (26) 25.28 (1e-5) 32.1 (4) 12.02 (40) 14.26 (4) 11.98 (19)
DPA 6 no 1e9 (56) 95.12 (40) 104.68 (1e-5) 691.28 (3) 67.32 (40) 247.07 (3) 66.96 (19)
DPA 7 yes 999.83 (4) 70.24 (48) 62.74 (1e-5) 664.53 (5) 51.27 (40) 1e16 (5) 51.22 (12)
DPA 27 no 1e6 (21) 238.48 (19) 102.85 (1e-5) 212.22 (4) 94.90 (40) 71.63 (4) 42.43 (19)
DPA 42 yes 1e5 (12) 59.43 (31) 23.91 (1e-2) 39.00 (5) 168.52 (40) 292.90 (5) 16.00 (6)
"""
TABLE_4 = """
66.6 (38) 60.43 (46) 84.7 (1e-5) 85.3 (3) 59.8 (20) 62.6 (3)
4.03e15 (70) 1.00e14 (9) 4.15e9 (1e-3) 4.99e14 (7) 1.33e13 (2) 2.43e13 (7)
"""
# Glaude, Enderli, Pietquin (2015): problem, BW-Sep with its size, Sep, BW, MoM, True with its size.
TABLE_1 = """
1 38.68 (5) 68.91 500.10 44.77 29.90 (63)
14 116.92 (15) 125.09 116.84 128.53 116.79 (15)
33 32.11 (20) 38.44 32.14 49.22 31.87 (13)
45 25.92 (5) 28.73 107.75 31.87 24.04 (14)
6 67.09 (40) 83.71 67.32 95.12 66.98 (19)
7 51.30 (15) 66.51 51.27 62.74 51.22 (12)
27 59.39 (20) 74.48 94.40 102.85 42.43 (19)
42 20.47 (35) 18.13 168.52 23.91 16.00 (6)
29 24.71 (30) 275.21 25.09 34.57 24.03 (36)
39 14.30 (5) 18.96 10.43 11.24 10.00 (6)
43 36.08 (5) 34.93 461.23 36.61 32.64 (67)
46 12.07 (30) 105.62 12.02 25.28 11.98 (19)
"""
METHODS = ["spectral-string", "spectral", "convex", "tensor", "em", "em-tensor"]


def rows(table):
    return [re.sub(r"[()]", "", line).split() for line in table.strip().splitlines()]


def assert_columns(table, figures, sizes, truth_place):
    assert list(published.PAPER_PROBLEMS) == [int(row[1]) for row in rows(table)]
    assert sorted(METHODS) == sorted(set(figures) - {"separable", "bw-sep"})
    for kind, number, suffice, *cells in rows(table):
        problem = int(number)
        assert published.PROBLEM_KINDS[problem] == kind
        assert (problem in published.SYMBOLS_SUFFICE) == (suffice == "yes")
        for column, method in enumerate(METHODS):
            assert figures[method][problem] == float(cells[2 * column]), (method, problem)
            assert sizes[method][problem] == float(cells[2 * column + 1]), (method, problem)
        assert pautomac_truth.PUBLISHED[problem][truth_place] == float(cells[-2])
        assert published.TRUE_STATES[problem] == float(cells[-1])


def test_word_error_rates_are_those_of_table_2():
    assert_columns(TABLE_2, published.WER, published.WER_SIZE, 1)


def test_perplexities_are_those_of_table_3():
    assert_columns(TABLE_3, published.PERPLEXITY, published.PERPLEXITY_SIZE, 0)


def test_figures_on_tags_are_those_of_table_4():
    tables = [
        (published.TAGS_WER, published.TAGS_WER_SIZE),
        (published.TAGS_PERPLEXITY, published.TAGS_PERPLEXITY_SIZE),
    ]
    for (figures, sizes), cells in zip(tables, rows(TABLE_4), strict=True):
        assert figures == dict(zip(METHODS, map(float, cells[::2]), strict=True))
        assert sizes == dict(zip(METHODS, map(float, cells[1::2]), strict=True))


def test_figures_of_separable_automata_are_those_of_table_1():
    assert len(rows(TABLE_1)) == len(published.PAPER_PROBLEMS)
    for number, *cells in rows(TABLE_1):
        problem = int(number)
        columns = (
            published.PERPLEXITY["bw-sep"],
            published.PERPLEXITY_SIZE["bw-sep"],
            published.PERPLEXITY["separable"],
            published.BAUM_WELCH_2015,
            published.BEST_MOMENTS,
            published.TRUE_2015,
            published.TRUE_STATES,
        )
        assert [column[problem] for column in columns] == [float(cell) for cell in cells]


def test_the_best_of_the_first_paper_is_the_mom_column_of_the_second():
    for problem in published.PAPER_PROBLEMS:
        least = min(published.PERPLEXITY[method][problem] for method in published.MOMENT_METHODS)
        assert published.BEST_MOMENTS[problem] == least
