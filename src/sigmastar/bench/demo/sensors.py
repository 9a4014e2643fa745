"""The movements of a simulated robot are told from its sonars, by frames alone and in sequence.

Walks 1 to 40 are for training, the rest for testing. The spectral taggers choose their settings on
a fifth of the training walks; those of the others are fixed. Seconds are those of ``fit``, the
choice included, after a small fit that compiles the kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from sigmastar.bench.clock import timed
from sigmastar.bench.demo.common import Savable
from sigmastar.core.confusion import Confusion, confusion
from sigmastar.core.progress import stage
from sigmastar.corpus.frames import FrameTable, as_frames
from sigmastar.datasets import SensorSeries, make_robot_stream
from sigmastar.sensors.estimators.baselines import FramewiseTagger
from sigmastar.sensors.estimators.em import EMSequenceTagger
from sigmastar.sensors.estimators.spectral import SpectralSequenceTagger
from sigmastar.sensors.features.centroids import CentroidFeatures

__all__ = ["SensorsDemo", "SensorsRow", "demo_sensors"]

_N_TEST = 20
_N_WALKS = 60


@dataclass(frozen=True, eq=False)
class SensorsRow:
    """One tagger: share of the steps it labels right, states, seconds, and its labels.

    ``given`` are the labels of each test walk; ``curve`` is the mean log-likelihood of a step by
    iteration, where there are iterations.
    """

    method: str
    accuracy: float
    n_states: int
    seconds: float
    tagger: Any
    given: tuple[tuple[str, ...], ...]
    curve: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class SensorsDemo:
    """What the fourth part found.

    ``walks`` are the readings of the test walks and ``true`` their labels; ``shown`` is the last
    row, and ``confusion`` is its. ``majority`` is the share of the commonest movement.
    """

    n_train: int
    walks: tuple[Any, ...]
    true: tuple[tuple[str, ...], ...]
    rows: tuple[SensorsRow, ...]
    shown: SensorsRow
    confusion: Confusion
    majority: float

    @property
    def table(self) -> FrameTable:
        """The test walks end to end, with their labels."""
        return FrameTable.of(as_frames(self.walks).labelled(self.true))

    @property
    def models(self) -> Mapping[str, Savable]:
        """What is worth saving, by name."""
        return {"robot": self.shown.tagger}

    def summary(self) -> dict[str, Any]:
        """Give the figures alone."""
        return {
            "train_walks": self.n_train,
            "test_walks": len(self.walks),
            "steps": len(self.walks[0]),
            "sonars": int(self.walks[0].shape[1]),
            "majority": self.majority,
            "rows": [
                {
                    "method": row.method,
                    "accuracy": row.accuracy,
                    "states": row.n_states,
                    "seconds": row.seconds,
                }
                for row in self.rows
            ],
            "shown": self.shown.method,
            "confusion": {"labels": self.confusion.labels, "counts": self.confusion.counts},
        }


def demo_sensors(seed: int = 7, stream: SensorSeries | None = None) -> SensorsDemo:
    """Learn the robot's movements, and test; on simulated walks unless told otherwise."""
    data = stream or make_robot_stream(_N_WALKS, random_state=seed)
    labels = [list(map(str, walk)) for walk in data.labels]
    cut = len(data) - _N_TEST
    train = list(data.inputs[:cut]), labels[:cut]
    test = list(data.inputs[cut:]), labels[cut:]
    rows = []
    contenders = _contenders(seed)
    with stage("Learning the robot's movements", len(contenders)) as progress:
        for name, tagger in contenders.items():
            progress.advance(0, note=name)
            clone(tagger).fit(train[0][:6], train[1][:6])
            seconds = timed(tagger.fit, *train)
            given = tuple(tuple(map(str, walk)) for walk in tagger.predict(test[0]))
            rows.append(
                SensorsRow(
                    method=name,
                    accuracy=tagger.score(*test),
                    n_states=tagger.model_.n_states,
                    seconds=seconds,
                    tagger=tagger,
                    given=given,
                    curve=tuple(map(float, tagger.info_.get("log_likelihood", ()))),
                )
            )
            progress.advance()
    shown = rows[-1]
    true = [label for walk in test[1] for label in walk]
    return SensorsDemo(
        n_train=cut,
        walks=tuple(test[0]),
        true=tuple(map(tuple, test[1])),
        rows=tuple(rows),
        shown=shown,
        confusion=confusion(true, [label for walk in shown.given for label in walk]),
        majority=max(map(true.count, set(true))) / len(true),
    )


def _contenders(seed: int) -> dict[str, Any]:
    def centroids(tau: float = 1.0) -> CentroidFeatures:
        return CentroidFeatures(80, metric="euclidean", tau=tau, random_state=seed)

    def forest() -> RandomForestClassifier:
        return RandomForestClassifier(40, random_state=seed)

    return {
        "each step alone, 80 centroids": FramewiseTagger(features=centroids(), random_state=seed),
        "EM, 80 centroids": EMSequenceTagger(
            10, features=centroids(), max_iter=40, random_state=seed
        ),
        "spectral, 80 centroids": SpectralSequenceTagger(
            [1, 5, 10, 20],
            features=centroids(),
            tau="auto",
            ridge=[1e-5, 1e-7],
            memory=[1.0, 0.5, 0.25],
            random_state=seed,
        ),
        "each step alone, random forest": FramewiseTagger(features=forest(), random_state=seed),
        "spectral, random forest": SpectralSequenceTagger(
            [2, 3, 4],
            features=forest(),
            sharpness=[1.0, 2.0],
            memory=[1.0, 0.5],
            n_folds=3,
            random_state=seed,
        ),
    }
