"""``sigmastar sensors train``: learn a tagger from labelled frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import expect, remember
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import show_saved
from sigmastar.cli.sensors_files import (
    ColumnsOption,
    FramesArgument,
    LabelOption,
    LengthOption,
    columns_of,
    labelled_table,
    read_table,
)
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.progress import stage

if TYPE_CHECKING:
    from sigmastar.corpus.frames import FrameTable

__all__ = ["train"]

# Which learners read an option; one that the chosen learner would not read is refused.
_READERS = {
    "--states": ("spectral", "em", "gibbs"),
    "--tau": ("spectral", "em", "framewise"),
    "--ridge": ("spectral", "framewise"),
    "--memory": ("spectral",),
    "--unlabelled": ("spectral",),
    "--max-iter": ("em",),
    "--restarts": ("em",),
    "--start": ("em",),
    "--prior": ("gibbs",),
    "--sweeps": ("gibbs",),
    "--draws": ("gibbs",),
}
_CLASSIFIERS = ("forest", "extra-trees", "boosting", "tree")  # of frames as they are


@dataclass(frozen=True)
class _Wanted:
    """The options by name, None where nobody gave one."""

    method: str
    features: str
    window: int
    seed: int
    given: dict[str, Any]

    def numbers(self, name: str) -> list[float] | None:
        """Read the numbers of an option."""
        text = self.given[name]
        return None if text is None else options.numbers(name, text)

    def number(self, name: str) -> float | None:
        """Read the number of an option, for a learner that does not choose among several."""
        found = self.numbers(name)
        return None if found is None else self._only(name, found)

    def sizes(self) -> list[int] | None:
        """Read the numbers of states."""
        text = self.given["--states"]
        return None if text is None else options.integers("--states", text)

    def size(self) -> int | None:
        """Read the number of states, for a learner that does not choose."""
        found = self.sizes()
        return None if found is None else self._only("--states", found)

    def _only(self, name: str, found: list[Any]) -> Any:
        if len(found) > 1:
            raise InvalidParameter(
                f"{name} must be one number for --method {self.method}; got {self.given[name]}. "
                "The spectral method chooses among several."
            )
        return found[0]


def train(
    frames: FramesArgument,
    output: options.ModelOutput,
    label: LabelOption = None,
    sequence: options.Sequence = None,
    length: LengthOption = None,
    columns: ColumnsOption = None,
    method: Annotated[
        str, choice("--method -m", choices.SENSOR_METHODS, "How the tagger is learned", "METHOD")
    ] = "spectral",
    features: Annotated[
        str | None,
        choice(
            "--features",
            choices.FEATURES,
            "What becomes of a frame; forest by default, centroids for gibbs",
        ),
    ] = None,
    centroids: Annotated[int, option("--centroids", "How many centroids.", "N", min=1)] = 200,
    metric: Annotated[
        str, choice("--metric", choices.FRAME_METRICS, "Distance between frames")
    ] = "euclidean",
    readings: Annotated[
        str, choice("--readings", choices.READINGS, "What becomes of a number before distances")
    ] = "raw",
    limit: Annotated[
        float | None, option("--limit", "Where clip cuts, or what reciprocal and log bear.", "X")
    ] = None,
    kernel: Annotated[
        str | None, choice("--kernel", choices.KERNELS, "Kernel whose space has the centroids")
    ] = None,
    gamma: Annotated[
        float | None, option("--gamma", "Scale of the kernel; by default from the frames.", "X")
    ] = None,
    tau: Annotated[
        str | None,
        option("--tau", "Kernel widths of centroids to choose from, or 'auto'.", "X,..."),
    ] = None,
    window: Annotated[
        int, option("--window", "Join each frame with those before it: 2 adds one.", "N", min=1)
    ] = 1,
    states: Annotated[
        str,
        option(
            "--states -n",
            "Number of states, several to choose from such as 5,10,20, or 'auto'.",
            "N",
        ),
    ] = "auto",
    ridge: Annotated[
        str | None,
        option("--ridge", "Regularisation to choose from (spectral, framewise).", "X,..."),
    ] = None,
    memory: Annotated[
        str | None, option("--memory", "Shares kept of operators (spectral).", "X,...")
    ] = None,
    unlabelled: Annotated[
        str | None,
        option("--unlabelled", "More frames without labels, same sensors (spectral).", "FILE"),
    ] = None,
    max_iter: Annotated[
        int | None, option("--max-iter", "Steps of EM; 100 by default.", "N", min=1)
    ] = None,
    restarts: Annotated[
        int | None, option("--restarts", "Starts of EM; the best is kept.", "N", min=1)
    ] = None,
    start: Annotated[
        str | None, choice("--start", choices.EM_STARTS, "Where EM starts; random by default")
    ] = None,
    prior: Annotated[
        float | None, option("--prior", "Dirichlet weight of a move (gibbs).", "X")
    ] = None,
    sweeps: Annotated[
        int | None, option("--sweeps", "Sweeps between draws (gibbs).", "N", min=1)
    ] = None,
    draws: Annotated[
        int | None, option("--draws", "Automata drawn and mixed (gibbs).", "N", min=1)
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Learn a tagger from labelled frames; what there is to choose is chosen on held-out sequences.

    The spectral method learns from moments; em maximises the likelihood and
    keeps the step that labels held-out sequences best; gibbs samples automata
    over centroids; framewise looks at single frames.

    [bold]Examples[/]
    sigmastar sensors train walk.csv -o walk.sigma --label mode
    sigmastar sensors train walk.csv -o small.sigma --features centroids -n 2,5
    sigmastar sensors train walk.csv -o em.sigma -m em -n 4 --max-iter 20
    """
    expect(frames)
    from sigmastar.sensors.features.centroids import CentroidFeatures

    given = {
        "--states": None if states == "auto" else states,
        "--tau": tau,
        "--ridge": ridge,
        "--memory": memory,
        "--unlabelled": unlabelled,
        "--max-iter": max_iter,
        "--restarts": restarts,
        "--start": start,
        "--prior": prior,
        "--sweeps": sweeps,
        "--draws": draws,
    }
    kind = features or ("centroids" if method == "gibbs" else "forest")
    wanted = _Wanted(method, kind, window, seed, given)
    _refuse_what_is_not_read(wanted)
    how = {"sequence": sequence, "length": length, "columns": columns_of(columns)}
    table, known = labelled_table(frames, label=label, **how)
    if len(set(known)) < 2:
        raise InvalidData(
            f"{frames}: has one label only, {known[0]!r}: there is nothing to tell apart. Name the "
            "column of the labels with --label."
        )
    points = CentroidFeatures(
        centroids,
        metric=metric,
        readings=readings,
        limit=limit,
        kernel=kernel,
        gamma=gamma,
        random_state=seed,
    )
    tagger = _tagger(wanted, points, table)
    more: dict[str, Any] = {}
    if unlabelled is not None:
        more["unlabelled"] = read_table(unlabelled, **how)
    with stage("Training"):
        tagger.fit(table, known, **more)
    # Readings go by name from now on, wherever they stand in another file.
    remember(tagger, label=label, **(how | {"columns": table.columns}))
    tagger.save(output)
    show_saved(
        "Learned a tagger of measurements", _report(tagger, method, table), output, json=json
    )


def _report(tagger: Any, method: str, table: FrameTable) -> dict[str, Any]:
    """Tell what was learned, as far as the learner knows."""
    info = tagger.info_
    report = {
        "method": method,
        "states": tagger.model_.n_states,
        "frames": len(table.frames),
        "sequences": len(table.lengths),
        "labels": list(tagger.model_.labels.symbols),
    }
    if "chosen" in info:
        report["chosen"] = {k: v for k, v in info["chosen"].items() if v is not None}
        tried = [row["accuracy"] for row in info["validation"]]
        report["held_out_accuracy"] = max(tried, default=None)
        report["negative_scores"] = info["negative_scores"]
    if "best_step" in info:
        report |= {"steps": len(info["log_likelihood"]), "kept_step": info["best_step"]}
        report["held_out_accuracy"] = info["figure"]
    return report


def _refuse_what_is_not_read(wanted: _Wanted) -> None:
    for name, methods in _READERS.items():
        if wanted.given[name] is not None and wanted.method not in methods:
            raise InvalidParameter(
                f"{name} must go with --method {' or '.join(methods)}; "
                f"got --method {wanted.method}. Leave it out."
            )
    if wanted.features != "centroids" and (wanted.given["--tau"] or wanted.method == "gibbs"):
        raise InvalidParameter(
            "--features must be centroids for --tau and for --method gibbs; "
            f"got --features {wanted.features}."
        )


def _tagger(wanted: _Wanted, points: Any, table: FrameTable) -> Any:
    """Set up the estimator for one of the methods and kinds of features."""
    common: dict[str, Any] = {"window": wanted.window, "random_state": wanted.seed}
    if wanted.method == "spectral":
        return _spectral(wanted, points, table, common)
    if wanted.method == "gibbs":
        return _gibbs(wanted, points)
    if wanted.features == "centroids":
        scale = _mean_distance(points, table, wanted.window)
        automatic = wanted.given["--tau"] in (None, "auto")
        points.set_params(tau=0.1 * scale if automatic else wanted.number("--tau"))
    features = _features(wanted, points, table)
    if wanted.method == "framewise":
        from sigmastar.sensors.estimators.baselines import FramewiseTagger

        ridge = wanted.number("--ridge")
        return FramewiseTagger(features=features, ridge=1e-5 if ridge is None else ridge, **common)
    from sigmastar.sensors.estimators.em import EMSequenceTagger

    usual = 10 if wanted.features == "centroids" else len(set(table.labels or []))
    return EMSequenceTagger(
        wanted.size() or usual,
        features=features,
        init=wanted.given["--start"] or "random",
        max_iter=wanted.given["--max-iter"] or 100,
        n_restarts=wanted.given["--restarts"] or 1,
        validation_fraction=0.2,
        **common,
    )


def _gibbs(wanted: _Wanted, points: Any) -> Any:
    from sigmastar.sensors.estimators.baselines import GibbsSequenceTagger

    tagger = GibbsSequenceTagger(wanted.size() or 5, features=points, random_state=wanted.seed)
    names = {"prior": "--prior", "n_sweeps": "--sweeps", "n_draws": "--draws"}
    given = {name: wanted.given[flag] for name, flag in names.items()}
    return tagger.set_params(**{name: value for name, value in given.items() if value is not None})


def _spectral(wanted: _Wanted, points: Any, table: FrameTable, common: dict[str, Any]) -> Any:
    from sigmastar.sensors.estimators.spectral import SpectralSequenceTagger

    tagger = SpectralSequenceTagger(
        memory=wanted.numbers("--memory") or [1.0, 0.5, 0.2, 0.1], **common
    )
    ridge = wanted.numbers("--ridge")
    if wanted.features == "centroids":
        usual = [m for m in (1, 5, 10, 20, 30) if m <= points.n_centroids]
        tau = wanted.given["--tau"]
        return tagger.set_params(
            n_states=wanted.sizes() or usual,
            features=points,
            tau="auto" if tau in (None, "auto") else wanted.numbers("--tau"),
            ridge=ridge or [1e-5, 1e-7, 1e-9],
        )
    usual = list(range(1, len(set(table.labels or [])) + 1))
    return tagger.set_params(
        n_states=wanted.sizes() or usual,
        features=_features(wanted, points, table),
        ridge=ridge or 1e-5,
        sharpness=[1.0, 2.0, 4.0, 8.0],
    )


def _mean_distance(points: Any, table: FrameTable, window: int) -> float:
    from sigmastar.corpus.frames import as_frames
    from sigmastar.sensors.features.extractor import mean_distance

    return mean_distance(points, as_frames(table), window)


def _features(wanted: _Wanted, points: Any, table: FrameTable) -> Any:
    """Set up what becomes of a frame."""
    if wanted.features == "centroids":
        return points
    if wanted.features in _CLASSIFIERS:
        from sklearn import ensemble, tree

        seed = wanted.seed
        makers: dict[str, Any] = {
            "forest": lambda: ensemble.RandomForestClassifier(
                100, max_features=0.5, random_state=seed
            ),
            "extra-trees": lambda: ensemble.ExtraTreesClassifier(
                100, max_features=0.5, random_state=seed
            ),
            "boosting": lambda: ensemble.GradientBoostingClassifier(random_state=seed),
            "tree": lambda: tree.DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
        }
        return makers[wanted.features]()
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Standardised readings differ by about 2 each, squared; half of that is a soft kernel.
    wide = table.frames.shape[1] * wanted.window if points.metric == "euclidean" else 0.5
    if points.kernel is not None:
        wide = 0.5
    return make_pipeline(
        StandardScaler(),
        points.set_params(tau=float(wide)),
        StandardScaler(),
        LogisticRegression(C=10.0, max_iter=300),
    )
