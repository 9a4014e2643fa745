"""Past this machine: what learning from 1 TB would take on 1 to 1,000 workers. A simulation.

Three costs are measured on one machine first (or read from a file, ``--costs``): seconds to
summarize a part, seconds to merge two summaries as a function of their size, and seconds that a
scheduler takes for a task. A simulation then plays the schedule: parts are handed to free workers
one after the other, a worker merges its own run along the tree, and the totals of the workers are
merged in pairs, travelling if they are elsewhere. How fast they travel is an assumption.

Two jobs: counting n-grams for Kneser-Ney of order 5, whose tables grow with the text, and one step
of EM with 20 states over parts that are already encoded, whose sums do not.

    python benchmarks/scale_simulation.py --output docs/assets/scale.svg

Prints the costs of each job, then for each number of workers seconds and speed-up, with the tree
and with all merges in one place, and where the time goes; and from how many workers on counting is
less than half of it.
"""

from __future__ import annotations

import argparse
import heapq
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

PART = 64e6  # bytes of text in a part
BYTE = 1e-9  # seconds to send a byte between workers: a gigabyte a second, not measured
WORKERS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]


@dataclass(frozen=True)
class Costs:
    """What was measured, in seconds and bytes.

    Attributes
    ----------
    part : float
        Seconds to read, encode and count a part of ``PART`` bytes.
    merge_byte : float
        Seconds to merge, for each byte of the two summaries.
    table, growth : float
        Bytes of the summary of one part, and the power of the number of parts with which summaries
        grow: 0 for sums of a fixed size, towards 1 for counts of ever new n-grams.
    most : float
        Bytes that no summary exceeds: all n-grams over the alphabet.
    message : float
        Seconds that the scheduler spends on one task.
    byte : float
        Seconds to send a byte between workers.
    """

    part: float
    merge_byte: float
    table: float
    growth: float
    most: float
    message: float
    byte: float

    def size(self, n_parts: int) -> float:
        """Return the bytes of the summary of so many parts."""
        return float(min(self.table * n_parts**self.growth, self.most))

    def merge(self, one: int, other: int) -> float:
        """Return the seconds to merge the summaries of two runs of parts."""
        return self.merge_byte * (self.size(one) + self.size(other))


def simulate(n_parts: int, n_workers: int, costs: Costs, *, tree: bool) -> dict[str, float]:
    """Play one reduction; return when it ends and how long the parts alone took.

    Parts go to workers in runs of neighbours, as a scheduler that minds where data are would do; a
    worker merges its own run as it goes. What is left are the totals of the workers: merged in
    pairs, round by round, or all by one.
    """
    free = [(0.0, worker) for worker in range(n_workers)]
    heapq.heapify(free)
    handed = 0.0
    ends = np.zeros(n_workers)
    held = np.zeros(n_workers, dtype=int)
    for _ in range(n_parts):
        ready, worker = heapq.heappop(free)
        handed += 2 * costs.message  # the scheduler: a task for each part, and one for a merge
        begin = max(ready, handed)
        held[worker] += 1
        end = begin + costs.part + _merges(int(held[worker]), costs)
        ends[worker] = end
        heapq.heappush(free, (end, worker))
    counted = float(ends.max())
    totals = [(ends[w] + _rest(int(held[w]), costs), int(held[w])) for w in range(n_workers)]
    totals = [total for total in totals if total[1]]
    if tree:
        while len(totals) > 1:
            totals = [
                _joined(totals[i], totals[i + 1], costs) if i + 1 < len(totals) else totals[i]
                for i in range(0, len(totals), 2)
            ]
        end = totals[0][0]
    else:
        end, size = totals[0]
        for other in sorted(totals[1:]):
            end, size = _joined((end, size), other, costs)
    busy = n_parts * costs.part / n_workers  # if workers did nothing but count, without a pause
    scheduler = 2 * costs.message * n_parts
    return {"seconds": float(end), "counting": busy, "rest": float(end) - busy} | {
        "scheduler": scheduler,
        "totals": float(end) - counted,
    }


def _merges(n: int, costs: Costs) -> float:
    """Return the seconds of the merges that the n-th part of a run makes possible."""
    seconds, size = 0.0, 1
    while n % (2 * size) == 0:
        seconds += costs.merge(size, size)
        size *= 2
    return seconds


def _rest(n: int, costs: Costs) -> float:
    """Return the seconds to merge what waits after n parts: runs of different powers of two."""
    waiting = [1 << bit for bit in range(n.bit_length()) if n >> bit & 1]
    seconds = 0.0
    for before, size in zip(np.cumsum(waiting), waiting[1:], strict=False):
        seconds += costs.merge(int(before), size)
    return seconds


def _joined(one: tuple[float, int], other: tuple[float, int], costs: Costs) -> tuple[float, int]:
    begin = max(one[0], other[0]) + costs.message + costs.byte * costs.size(other[1])
    return begin + costs.merge(one[1], other[1]), one[1] + other[1]


def measured() -> dict[str, Costs]:
    """Measure what the two jobs cost on this machine."""
    message = _message()
    return {"Kneser-Ney": _counting(message), "EM step": _em_step(message)}


def _em_step(message: float) -> Costs:
    """Measure one step of EM with 20 states over a part that is encoded and not laid out."""
    from sigmastar.automata.inference.expected_counts import Forest
    from sigmastar.automata.inference.partitioned_counts import _ExpectedCounts
    from sigmastar.corpus.corpus import Corpus

    ROWS, lines_of_characters = _text()
    lines = lines_of_characters(np.random.default_rng(0), ROWS)
    corpus = Corpus.from_sequences(lines.decode().splitlines())
    rng = np.random.default_rng(0)
    arcs, final = rng.random((len(corpus.alphabet), 20, 20)), rng.random(20)
    mass = arcs.sum(axis=(0, 2)) + final
    step = _ExpectedCounts(np.full(20, 0.05), arcs / mass[None, :, None], final / mass)
    seconds = []
    for _ in range(3):  # the first compiles
        began = time.perf_counter()
        counted = step.summarize(Forest(corpus, n_states=20))
        seconds.append(time.perf_counter() - began)
    began = time.perf_counter()
    for _ in range(100):
        step.merge(counted, counted)
    size = float(arcs.nbytes)
    merge = (time.perf_counter() - began) / 100 / (2 * size)
    return Costs(min(seconds) / len(lines) * PART, merge, size, 0.0, size, message, BYTE)


def _text() -> tuple[int, Callable[[np.random.Generator, int], bytes]]:
    import sys

    sys.path.insert(0, str(Path(__file__).parent))
    from scale import ROWS, lines_of_characters

    return ROWS, lines_of_characters


def _counting(message: float) -> Costs:
    """Measure reading, counting (Kneser-Ney of order 5) and merging."""
    import tempfile

    from sigmastar.corpus.part_sources import FileSpan
    from sigmastar.ngrams.counts import NgramCounts
    from sigmastar.ngrams.model import pad

    ROWS, lines_of_characters = _text()
    tables, seconds = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(5):  # the first compiles, and does not count
            path = Path(folder, f"{number}.txt")
            text = lines_of_characters(np.random.default_rng(number), ROWS)
            path.write_bytes(text)
            began = time.perf_counter()
            corpus = FileSpan(str(path), "chars").read(None, "error")
            zero = NgramCounts.zero(len(corpus.alphabet) + 2, 5)
            tables.append(zero.add(pad(corpus, True)))
            seconds.append((time.perf_counter() - began) / len(text))
    tables[0].merge(tables[1])
    sizes = [_bytes(table) for table in tables[1:]]
    began = time.perf_counter()
    one, two = tables[1].merge(tables[2]), tables[3].merge(tables[4])
    merge = (time.perf_counter() - began) / sum(sizes)
    growth = max(float(np.log2(_bytes(one.merge(two)) / _bytes(one))), 0.0)
    return Costs(
        part=float(np.median(seconds[1:])) * PART,
        merge_byte=merge,
        table=float(np.mean(sizes)) * (PART / len(text)) ** growth,
        growth=growth,
        most=16.0 * (len(corpus.alphabet) + 2) ** 5,  # a code and a count of each
        message=message,
        byte=BYTE,
    )


def _bytes(counts: object) -> int:
    names = ("windows", "window_counts", "firsts", "first_counts")
    return sum(getattr(counts, name).nbytes for name in names)


def _message() -> float:
    """Measure how long a scheduler takes for a task that does nothing."""
    from distributed import Client, LocalCluster

    n = 2000
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as here,
        Client(here, set_as_default=False) as client,
    ):
        client.gather(client.map(abs, range(100)))
        began = time.perf_counter()
        client.gather(client.map(abs, range(100, 100 + n)))
        return (time.perf_counter() - began) / n


def main() -> None:
    """Simulate, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--terabytes", type=float, default=1.0)
    parser.add_argument("--costs", type=Path, help="JSON of costs; else they are measured")
    parser.add_argument("--output", type=Path, help="draw the speed-up (.svg or .png)")
    options = parser.parse_args()
    given = json.loads(options.costs.read_text()) if options.costs else None
    jobs = {name: Costs(**c) for name, c in given.items()} if given else measured()
    print(json.dumps({name: asdict(costs) for name, costs in jobs.items()}))
    n_parts = int(options.terabytes * 1e12 / PART)
    curves = {name: speed_ups(name, n_parts, costs) for name, costs in jobs.items()}
    if options.output:
        draw(curves, options.output)


def speed_ups(name: str, n_parts: int, costs: Costs) -> dict[str, list[float]]:
    """Simulate a job for all numbers of workers, and tell of each."""
    one = simulate(n_parts, 1, costs, tree=True)["seconds"]
    curves: dict[str, list[float]] = {"tree": [], "one": []}
    for n in WORKERS:
        tree = simulate(n_parts, n, costs, tree=True)
        alone = simulate(n_parts, n, costs, tree=False)
        curves["tree"].append(one / tree["seconds"])
        curves["one"].append(one / alone["seconds"])
        row = {"workers": n, **tree, "speed_up": one / tree["seconds"]}
        row |= {"speed_up_without_tree": one / alone["seconds"]}
        print(json.dumps({"job": name} | {key: round(value, 2) for key, value in row.items()}))
    limits = {key: _limit(n_parts, costs, tree=key == "tree") for key in curves}
    print(json.dumps({"job": name, "counting_is_half_of_the_time_at": limits}))
    return curves


def _limit(n_parts: int, costs: Costs, *, tree: bool) -> int | None:
    """Return from how many workers on all else takes longer than counting; by halving."""
    few, many = 1, n_parts
    while many - few > 1:
        middle = (few + many) // 2
        found = simulate(n_parts, middle, costs, tree=tree)
        few, many = (few, middle) if found["rest"] > found["counting"] else (middle, many)
    return many if many < n_parts else None


def draw(curves: dict[str, dict[str, list[float]]], path: Path) -> None:
    """Plot speed-up against the number of workers."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "scale"
    from matplotlib import pyplot as plt

    figure, all_axes = plt.subplots(1, len(curves), figsize=(5 * len(curves), 4), sharey=True)
    for axes, (name, curve) in zip(np.atleast_1d(all_axes), curves.items(), strict=True):
        axes.loglog(WORKERS, WORKERS, ":", color="grey", label="ideal")
        axes.loglog(WORKERS, curve["tree"], "o-", label="merged along a tree")
        axes.loglog(WORKERS, curve["one"], "s--", label="merged in one place")
        axes.set_xlabel("workers")
        axes.set_title(f"{name}, 1 TB: a simulation")
        axes.legend()
    np.atleast_1d(all_axes)[0].set_ylabel("speed-up")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
