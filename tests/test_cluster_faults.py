"""Faults that end a process of a cluster for good: its scheduler, the client, Ctrl-C to all."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import numpy as np
import pytest

import sigmastar as ss
from patience import until
from sigmastar.core.errors import WorkersLost

pytestmark = pytest.mark.compiled  # workers without compiled kernels would take minutes

EM = {"random_state": 0, "tol": 0, "checkpoint_every": 1e9}
CLIENT = """
    import signal
    import sys
    from sigmastar.automata.learn.blocks.em_checkpoint import Checkpoint
    from sigmastar.cli.main import main
    from sigmastar.corpus import partitions

    if __name__ == "__main__":  # which workers that are spawned are not
        signal.signal(signal.SIGINT, signal.default_int_handler)
        partitions.PART_BYTES = 300
        partitions.Partitions.from_files.__func__.__kwdefaults__["part_bytes"] = 300
        offer = Checkpoint.offer
        def told(self, progress, *, now=False):
            offer(self, progress, now=now)
            print("step", flush=True)
        Checkpoint.offer = told
        main()
"""


@pytest.fixture
def strings(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        lines = ["".join(rng.choice(list("abc"), size=rng.integers(0, 9))) for _ in range(200)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "?.txt")


def parts(files, **options):
    return ss.Partitions.from_files(files, "chars", part_bytes=300, **options)


@contextmanager
def processes(folder):
    """Start a scheduler and two workers; give the first and its address."""
    file = folder / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    command += ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen(command, **quiet)]
    try:
        until(lambda: file.exists() and file.read_text().endswith("}"))
        address = json.loads(file.read_text())["address"]
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
        worker += ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
        started += [subprocess.Popen(worker, **quiet) for _ in range(2)]
        yield started[0], address
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_the_death_of_the_scheduler_leaves_a_checkpoint(strings, tmp_path, monkeypatch):
    from sigmastar.automata.inference.partitioned_counts import PartitionedForest

    checkpoint = tmp_path / "run.sigma"
    wanted = ss.BaumWelchPFA(3, max_iter=8, **EM).fit(parts(strings)).model_
    est = ss.BaumWelchPFA(3, max_iter=8, checkpoint=checkpoint, **EM)
    count, steps = PartitionedForest.expected_counts, []

    with processes(tmp_path) as (scheduler, address):
        far = parts(strings, client=address)

        def dying(self, *parameters, n_jobs=None):
            steps.append(1)
            if len(steps) == 4:
                scheduler.kill()
            return count(self, *parameters, n_jobs=n_jobs)

        monkeypatch.setattr(PartitionedForest, "expected_counts", dying)
        with pytest.raises(WorkersLost, match=r"the scheduler at tcp://\S+ is gone.*checkpoints"):
            est.fit(far)
        far.close()
    assert checkpoint.exists()
    assert est.fit(parts(strings)).model_ == wanted
    assert len(steps) == 4 + 5  # the first three are not done again


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_with_workers_leaves_its_last_step(strings, tmp_path, stop):
    script, checkpoint = tmp_path / "run.py", tmp_path / "run.sigma"
    script.write_text(textwrap.dedent(CLIENT))
    command = [sys.executable, script, "learn", strings, "-f", "chars", "-m", "em", "-n", "3"]
    command += ["--checkpoint", checkpoint, "--workers", "2", "--seed", "0"]
    options = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    endless = [*command, "--max-iter", "1000000"]
    with subprocess.Popen(endless, **options) as process:
        for _ in range(3):
            assert process.stdout.readline() == "step\n"
        # A terminal sends Ctrl-C to all processes of the command, the workers among them.
        os.killpg(process.pid, stop) if stop is signal.SIGINT else process.send_signal(stop)
        process.stdout.read()
    assert process.returncode == 128 + stop
    assert checkpoint.exists()
    until(lambda: not alive(process.pid))  # no worker is left behind


def alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_tagging_command_goes_on_with_what_is_missing(tmp_path):
    english = ss.datasets.load_demo_english()
    ss.HMMTagger(order=1).fit(english.train).model_.save(tmp_path / "t.sigma")
    text = "".join(" ".join(words) + "\n" for words, _ in english.test)
    for name in ("x.txt", "y.txt"):
        (tmp_path / name).write_text(text * 8)
    script, out = tmp_path / "run.py", tmp_path / "out"
    script.write_text(textwrap.dedent(CLIENT))
    command = [sys.executable, script, "tagger", "tag", tmp_path / "t.sigma"]
    command += [tmp_path / "?.txt", "-f", "lines", "-t", "word/TAG", "--output-dir", out, "--json"]
    with processes(tmp_path) as (_, address):
        command += ["--cluster", address]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as first:
            until(lambda: len(list(out.glob("part-*"))) >= 3)
            first.kill()
        early = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
        again = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(again.stdout)
    assert 3 <= report["finished_before"] < report["parts"]
    assert all(path.stat().st_mtime_ns == time for path, time in early.items())
    found = "".join(path.read_text() for path in sorted(out.glob("part-*")))
    with open(tmp_path / "x.txt", "rb") as source, open(tmp_path / "one", "wb") as target:
        ss.load(tmp_path / "t.sigma").tag_file(source, target)
    assert found == (tmp_path / "one").read_text() * 2
