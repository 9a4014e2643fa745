"""A real cluster of processes: the bits of one machine, with any number of workers, some killed."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
from functools import partial
from pathlib import Path

import dask
import numpy as np
import pytest
from distributed import Status

import sigmastar as ss
from patience import until
from sigmastar.cli.parts import as_it_is
from sigmastar.core import attendance
from sigmastar.core.cluster import ClusterRunner
from sigmastar.core.errors import WorkersLost
from sigmastar.core.local_cluster import local_client
from sigmastar.corpus.apply import write_parts
from sigmastar.corpus.part_sources import file_parts

pytestmark = pytest.mark.compiled  # workers without compiled kernels would take minutes

LEARNERS = {
    "kneser-ney": ss.KneserNey(3),
    "spectral": ss.SpectralWFA(3, basis_size=20, max_length=2),
    "spectral-auto": ss.SpectralWFA(basis_size=20, max_length=2, max_states=3),
    "convex": ss.ConvexWFA(0.05, basis_size=20, max_length=2),
    "tensor": ss.TensorHMM(2, basis_size=20, max_length=2),
    "separable": ss.SeparablePFA(3, basis_size=20, max_length=2, shrinkage=10.0),
    "em-pfa": ss.BaumWelchPFA(3, random_state=0, max_iter=3, tol=0),
    "em-hmm": ss.BaumWelchHMM(3, random_state=0, max_iter=3, tol=0, validation_fraction=0.2),
    "em-stepwise": ss.BaumWelchPFA(3, random_state=0, max_iter=2, tol=0, batch_parts=2),
}
# Settings chosen on sequences held out.
CHOOSERS = {
    "convex": ss.ConvexWFA(basis_size=20, max_length=2),
    "tensor": ss.TensorHMM(basis_size=20, max_length=2, max_states=2),
    "separable": ss.SeparablePFA(basis_size=20, max_length=2, max_states=3),
    "separable-em": ss.SeparableBaumWelch(2, restart_iter=1, random_state=0, max_iter=2),
}


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    settings = {
        "distributed.scheduler.allowed-failures": 50,  # workers are killed on purpose
        "distributed.worker.memory.terminate": False,
        "distributed.comm.timeouts.connect": "60s",
    }
    with dask.config.set(settings):
        with LocalCluster(
            n_workers=4, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as here:
            with Client(here, set_as_default=False) as client:
                yield here, client


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strings")
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        lines = ["".join(rng.choice(list("abc"), size=rng.integers(0, 9))) for _ in range(200)]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return str(folder / "*.txt")


def parts(files, **options):
    return ss.Partitions.from_files(files, "chars", part_bytes=300, **options)


def only(cluster, n):
    here, client = cluster
    here.scale(n)
    until(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == n)
    return client


@pytest.mark.parametrize("n_workers", [4, 2, 1])
def test_any_number_of_workers_gives_the_local_bits(cluster, files, tmp_path, n_workers):
    client = only(cluster, n_workers)
    local = parts(files)
    for options in ({}, {"scratch": tmp_path}):
        far = parts(files, client=client, **options)
        assert (far.digest, far.alphabet) == (local.digest, local.alphabet)
        for name, learner in LEARNERS.items():
            assert learner.fit(far).model_ == learner.fit(local).model_, (name, options)
    search = ss.AutoWFA(time_budget=0.3, random_state=0).fit(local)
    again = ss.AutoWFA(recipe=search.recipe_, random_state=0).fit(parts(files, client=client))
    assert again.model_ == search.model_
    english = ss.datasets.load_demo_english().train[:80]
    tagged = [[list(zip(*pair, strict=True)) for pair in english[i : i + 20]] for i in (0, 20, 40)]
    names = ss.datasets.load_demo_names().train
    pairs = [ss.join_pairs(names[i : i + 60]) for i in (0, 60, 120)]
    for learner, own in (
        (ss.HMMTagger(order=1), tagged),
        (ss.Transliterator(method="joint-ngram", order=3), pairs),
    ):
        for where, options in (("here", {}), ("there", {"client": client})):
            learner.fit(ss.Partitions.from_sequences(own, **options)).save(tmp_path / where)
        assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()


@pytest.mark.parametrize("name", CHOOSERS)
def test_settings_are_chosen_on_workers_as_here(cluster, files, name):
    client = only(cluster, 2)
    learner = CHOOSERS[name]
    wanted = learner.fit(parts(files)).model_
    assert learner.fit(parts(files, client=client)).model_ == wanted


@pytest.mark.parametrize("n_workers", [2, 1])
def test_frames_in_parts_learn_the_local_bits(cluster, tmp_path, n_workers):
    client = only(cluster, n_workers)
    rng = np.random.default_rng(0)
    for part in range(3):
        values = rng.normal(size=(300, 2)) + 4.0 * (np.arange(300)[:, None] // 20 % 2)
        rows = [f"{at // 60},{x!r},{y!r}" for at, (x, y) in enumerate(values.tolist())]
        (tmp_path / f"{part}.csv").write_text("\n".join(["run,x,y", *rows]) + "\n")
    files = partial(ss.FramePartitions.from_files, str(tmp_path / "*.csv"), sequence="run")
    for learner in (
        ss.GaussianHMM(2, covariance="diag", max_iter=4, random_state=0),
        ss.MixtureHMM(2, 2, max_iter=3, random_state=0),
    ):
        assert learner.fit(files(client=client)).model_ == learner.fit(files()).model_


class Killer(threading.Thread):
    """Kills a worker that is about one kind of task now and then, five times in all."""

    def __init__(self, cluster, task):
        super().__init__()
        self.here, _ = cluster
        self.task = f"sigmastar-{task}-"
        self.killed = []
        self.stop = threading.Event()

    def run(self):
        while len(self.killed) < 5 and not self.stop.wait(0.001):
            # One that dies while it starts is not replaced: Dask takes it for broken.
            working = [
                worker.process.process.pid
                for worker in list(self.here.workers.values())
                if worker.process and worker.process.status is Status.running
                if self.is_busy(worker.worker_address)
            ]
            if working:
                pid = working[len(self.killed) % len(working)]
                os.kill(pid, signal.SIGKILL)
                self.killed.append(pid)
                self.stop.wait(0.3)

    def is_busy(self, address):
        """Tell whether the scheduler has given a worker such a task and waits for its end."""
        known = self.here.scheduler.workers.get(address)
        tasks = list(known.processing) if known else []
        return any(task.key.startswith(self.task) for task in tasks)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.join()


def test_killed_workers_leave_no_trace(cluster, files):
    client = only(cluster, 2)
    learner = ss.BaumWelchPFA(3, random_state=0, max_iter=60, tol=0)
    wanted = learner.fit(parts(files)).model_
    far = parts(files, client=client)
    with Killer(cluster, "summarize_laid_out") as killer:
        while killer.is_alive():
            assert learner.fit(far).model_ == wanted
    assert len(killer.killed) == 5


def test_workers_that_nobody_replaces_are_replaced(files, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(attendance, "LOOK", 0.1)
    monkeypatch.setattr(attendance, "REFILL", 0.5)
    learner = ss.BaumWelchPFA(3, random_state=0, max_iter=3, tol=0)
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "100ms"}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as here,
        Client(here, set_as_default=False) as client,
    ):
        far = parts(files, client=client)
        for nanny in list(here.workers.values()):
            nanny.status = Status.closing_gracefully  # as one whose worker died while it started
            os.kill(nanny.process.process.pid, signal.SIGKILL)
        assert learner.fit(far).model_ == learner.fit(parts(files)).model_
        assert len(here.workers) == 2


def test_a_cluster_that_stays_without_workers_is_given_up(files, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(attendance, "LOOK", 0.1)
    monkeypatch.setattr(attendance, "GIVE_UP", 0.5)
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as here,
        Client(here, set_as_default=False) as client,
        pytest.raises(ss.errors.WorkersLost, match="no worker for"),
    ):
        ss.KneserNey(2).fit(parts(files, client=client))


def test_killed_workers_lose_no_sentence_of_a_tagging_job(cluster, tmp_path):
    from sigmastar.cli.tagger import _tag_part

    client = only(cluster, 2)
    english = ss.datasets.load_demo_english()
    tagger = ss.HMMTagger(order=1).fit(english.train).model_
    text = tmp_path / "text.txt"
    text.write_text("".join(" ".join(words) + "\n" for words, _ in english.test) * 20)
    sources = file_parts(text, format="words", part_bytes=2000)
    job = {"names": [source.name for source in sources], "job": "tag"}
    write = partial(_tag_part, tagger, None, "lines", "word/TAG", None)
    none = [None] * len(sources)
    with open(text, "rb") as source, open(tmp_path / "wanted.txt", "wb") as target:
        counts = tagger.tag_file(source, target)
    with Killer(cluster, "write_one") as killer:
        for turn in itertools.count():
            folder = tmp_path / f"out{turn}"
            runner = ClusterRunner(client)
            done = write_parts(
                write, as_it_is, None, sources, none, runner=runner, folder=folder, **job
            )
            found = b"".join(Path(file).read_bytes() for file in done.files)
            assert found == (tmp_path / "wanted.txt").read_bytes()
            assert done.counts == counts
            if not killer.is_alive():
                break
    assert len(killer.killed) == 5


def test_a_worker_begins_another_part_while_one_waits_for_the_disk(cluster, tmp_path):
    def work(folder, part, _):
        import time
        from pathlib import Path

        from sigmastar.core.threads import step_aside

        if part == 0:
            step_aside()
            ends = time.monotonic() + 60
            while not Path(folder, "1").exists() and time.monotonic() < ends:
                time.sleep(0.01)
        Path(folder, str(part)).touch()
        return part, Path(folder, "1").exists()

    runner = ClusterRunner(only(cluster, 1))
    found = runner.stream(work, str(tmp_path), [0, 1], [None, None], waits=True)
    assert list(found) == [(0, True), (1, True)]


def test_a_bad_part_is_told_from_a_worker(cluster, tmp_path):
    _, client = cluster
    path = tmp_path / "bad.txt"
    path.write_text("1 2\n" * 50 + "oops\n" + "3\n" * 50)
    options = {"part_bytes": 40, "client": client}
    with pytest.raises(ss.errors.ParseError, match=r"bad\.txt:51"):
        ss.Partitions.from_files(path, "treba", **options)
    rest = ss.Partitions.from_files(path, "treba", on_error="skip", **options)
    assert "bad.txt:51" in rest.skipped[0].reason
    assert 80 < len(rest) < 100


RUN = """
    import sys
    import sigmastar as ss
    from sigmastar.automata.inference.partitioned_counts import PartitionedForest

    address, files, checkpoint, output = sys.argv[1:]
    count = PartitionedForest.expected_counts
    def told(self, *parameters, n_jobs=None):
        print("step", flush=True)
        return count(self, *parameters, n_jobs=n_jobs)
    PartitionedForest.expected_counts = told
    data = ss.Partitions.from_files(files, "chars", part_bytes=300, client=address)
    est = ss.BaumWelchPFA(3, random_state=0, max_iter=12, tol=0, checkpoint=checkpoint,
                          checkpoint_every=0)
    est.fit(data)
    est.model_.save(output)
"""


def test_a_killed_client_goes_on_from_its_checkpoint(cluster, files, tmp_path):
    client = only(cluster, 2)
    script, output = tmp_path / "run.py", tmp_path / "model.sigma"
    script.write_text(textwrap.dedent(RUN))
    address = client.scheduler_info()["address"]
    command = [sys.executable, script, address, files, tmp_path / "run.sigma", output]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        for _ in range(5):
            assert first.stdout.readline() == "step\n"
        first.kill()
        first.wait()
    assert not output.exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout.count("step") < 12  # not from the beginning
    wanted = ss.BaumWelchPFA(3, random_state=0, max_iter=12, tol=0).fit(parts(files)).model_
    assert ss.load(output) == wanted


def test_workers_started_here_keep_memory_that_arrays_come_back_to():
    with local_client(1, memory="1GB") as client:
        (kept,) = client.run(os.environ.get, "MALLOC_MMAP_THRESHOLD_").values()
        assert int(kept) == 32 << 20
        (limit,) = client.scheduler_info()["workers"].values()
        assert (limit["nthreads"], limit["memory_limit"]) == (1, 10**9)


def test_where_no_scheduler_answers_that_is_told(files):
    with dask.config.set({"distributed.comm.timeouts.connect": "0.1s"}):
        with pytest.raises(WorkersLost, match="no scheduler answers"):
            parts(files, client="tcp://127.0.0.1:1")
