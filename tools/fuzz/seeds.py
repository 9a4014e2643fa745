"""Small sound model files of every kind and variant: what mutants are made of.

Making them takes a while, so they are kept in a temporary directory; a change to the package makes
new ones.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sigmastar as ss
from sigmastar.core.jit import CHECKED
from sigmastar.core.model_files import Stored, read_stored, write_stored
from sigmastar.transducers.transliteration.network import Shape, n_parameters
from sigmastar.transducers.transliteration.neural import Neural

__all__ = ["CHECKPOINT_RUNS", "old_files", "seed_files"]

Maker = Callable[[], Any]
ROOT = Path(__file__).parents[2]

LOGS = [
    line.split()
    for line in ["open read read close", "open write close", "open read close", "open close"] * 4
    + ["open write write read close", "open seek read close"]
]
TAGGED = [
    "the/DET old/ADJ dog/NOUN barks/VERB ./.",
    "a/DET man/NOUN walks/VERB the/DET dog/NOUN ./.",
    "dogs/NOUN walk/VERB and/X men/NOUN bark/VERB ./.",
    "the/DET walk/NOUN was/VERB long/ADJ ./.",
    "she/PRON saw/VERB that/PRON old/ADJ saw/NOUN ./.",
    "that/DET man/NOUN barks/VERB ./.",
]
WORDS = [[token.rsplit("/", 1)[0] for token in line.split()] for line in TAGGED]
TAGS = [[token.rsplit("/", 1)[1] for token in line.split()] for line in TAGGED]
NAMES = [
    (source, source.translate(str.maketrans("abeinort", "абеинорт")))
    for source in ["anna", "boris", "nina", "rita", "tobin", "irena", "toni", "bert", "nora", "ann"]
    if "s" not in source
] + [("nine", "найн"), ("bean", "бин"), ("tea", "ти"), ("ora", "ора"), ("into", "инто")]

# How the names of seeds begin whose kinds, or some of whose arrays, no old file has.
YOUNG = ("mixture", "measured", "lemmatizer", "tokenizer", "pipeline", "tagger-discr")
YOUNG += ("names-method-discr", "sensors-read", "sensors-kernel")

# Runs of Baum-Welch by the name of their estimator: a checkpoint belongs to one run only.
CHECKPOINT_RUNS: dict[str, dict[str, Any]] = {
    "BaumWelchPFA": {"n_states": 2, "max_iter": 6, "tol": 0.0, "n_restarts": 2, "restart_iter": 2},
    "BaumWelchHMM": {"n_states": 2, "max_iter": 6, "tol": 0.0, "validation_fraction": 0.25},
}


def seed_files(*, young: bool = False) -> tuple[list[Path], dict[str, str]]:
    """Give the files, made now or before, and for each seed that could not be made the reason.

    With ``young`` only those of kinds that no old version knew.
    """
    folder = _folder()
    failures = {}
    made = []
    for name, maker in _makers():
        if young and not name.startswith(YOUNG):
            continue
        path = folder / f"{name}.sigma"
        made.append(path)
        if path.exists():
            continue
        try:
            model = maker()
            if isinstance(model, Stored):
                write_stored(path, model)
            else:
                model.save(path)
        except Exception as error:  # one defect must not keep the other kinds from being tried
            failures[name] = f"{type(error).__name__}: {error}"
    return sorted(path for path in made if path.exists()), failures


def old_files() -> list[Path]:
    """Give the model files of old versions that the tests keep."""
    return sorted((ROOT / "tests" / "data").glob("*/*.sigma"))


def _folder() -> Path:
    """Give the directory of this checkout; empty it if the source has changed since."""
    # Checked kernels make their own: so they learn every kind, too.
    checkout = hashlib.sha256(f"{ROOT}{'checked' * CHECKED}".encode()).hexdigest()[:8]
    folder = Path(tempfile.gettempdir()) / f"sigmastar-seeds-{os.getuid()}-{checkout}"
    folder.mkdir(exist_ok=True)
    state = folder / "state"
    if not state.exists() or state.read_text() != _state_of_the_source():
        for path in folder.glob("*.sigma"):
            path.unlink()
        state.write_text(_state_of_the_source())
    return folder


def _state_of_the_source() -> str:
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(Path(ss.__file__).parent.rglob("*.py")):
        digest.update(f"{path}\0{path.stat().st_mtime_ns}".encode())
    return digest.hexdigest()


def _makers() -> Iterator[tuple[str, Maker]]:
    yield from _automata()
    yield from _ngrams()
    yield from _text_taggers()
    yield from _sensors()
    yield from _measurements()
    yield from _transducers()
    yield from _transliterators()
    for estimator in CHECKPOINT_RUNS:
        yield f"checkpoint-{estimator}", lambda estimator=estimator: _checkpoint(estimator)


def _automata() -> Iterator[tuple[str, Maker]]:
    yield "wfa", lambda: ss.SpectralWFA(2, basis_size=20).fit(LOGS)
    strange = [None, True, 2.5, "é\n", b"\x00\xff", ("x", (1, b"y")), -7, "<unk>"]
    rng = np.random.default_rng(5)
    yield (
        "pfa",
        lambda: ss.PFA.normalized(
            rng.random(2), rng.random((8, 2, 2)), rng.random(2), ss.Alphabet(strange, unk="<unk>")
        ),
    )
    yield "pfa-ints", lambda: ss.datasets.make_pfa(3, 2, mean_length=4, random_state=3)
    yield "hmm", lambda: ss.BaumWelchHMM(2, max_iter=3, random_state=0).fit(LOGS)
    yield (
        "hmm-endless",
        lambda: ss.HMM(
            [0.6, 0.4],
            [[0.9, 0.1], [0.2, 0.8]],
            [[0.7, 0.3], [0.1, 0.9]],
            [0, 0],
            ss.Alphabet("ab"),
        ),
    )


def _ngrams() -> Iterator[tuple[str, Maker]]:
    yield "ngram", lambda: ss.KneserNey(3).fit(LOGS)
    yield "ngram-unk", lambda: ss.KneserNey(2, unknown="unk").fit(LOGS)
    yield "ngram-without-ends", lambda: ss.KneserNey(3, ends=False).fit(["abab", "ba", "aab"])
    yield "mixture", lambda: ss.ContextMixture(2, automata="none", random_state=0).fit(LOGS)
    yield "mixture-with-automata", lambda: ss.ContextMixture(2, random_state=0).fit(LOGS)


def _text_taggers() -> Iterator[tuple[str, Maker]]:
    def hmm(order: int = 1, **settings: Any) -> Any:
        return ss.HMMTagger(order, rare_count=3, max_suffix=2, **settings).fit(WORDS, TAGS)

    def fst(kind: str, order: int = 2, **settings: Any) -> Any:
        small = hmm(order, classes="sets", max_classes=4)
        return ss.FSTTagger.from_hmm(small, kind, **settings)

    def rules(text: str) -> Any:
        return ss.RuleSet.from_text(text, hmm().tags_)

    yield "tagger-order-1", lambda: hmm(1)
    yield "tagger-order-2", lambda: hmm(2)
    tagged, lemmas = (
        ss.PairCorpus.from_pairs(zip(WORDS, other, strict=True))
        for other in (TAGS, [[word.lower()[:3] for word in words] for words in WORDS])
    )
    yield "lemmatizer", lambda: ss.learn_lemmas(tagged, lemmas)
    treebank = ss.AnnotatedText(*_treebank())
    small = {"n_passes": 2, "n_bits": 8}
    yield "tokenizer", lambda: ss.learn_tokens(treebank, **small)
    yield "tokenizer-by-rules", lambda: ss.Tokenizer.default()
    yield (
        "pipeline",
        lambda: ss.learn_pipeline(treebank, tokenizer=ss.learn_tokens(treebank, **small)),
    )
    yield (
        "pipeline-plain",
        lambda: ss.Pipeline(ss.Tokenizer.default(), {"upos": hmm(2)}),
    )
    yield "tagger-discriminative", lambda: hmm(2, training="discriminative", n_passes=2)
    yield "tagger-sets", lambda: hmm(1, classes="sets", decoding="posterior")
    yield "tagger-lexical", lambda: hmm(2, classes="sets", n_lexical=3, max_classes=6)
    for kind in ("n0", "n1", "n2", "s"):
        yield f"fst-{kind}", lambda kind=kind: fst(kind, corpus=WORDS)
    yield "fst-s-with-n1", lambda: fst("s+n1", max_length=2)
    yield "fst-lazy", lambda: fst("lazy", corpus=WORDS)
    yield "fst-lazy-order-1", lambda: fst("lazy", order=1, max_states=64)
    yield "fst-b", lambda: fst("b", look_ahead=1, corpus=WORDS)
    near = "NOUN -> VERB / PRON _\nVERB -> NOUN / DET _\nX -> ADJ / <s> _ DET"
    words = "that/PRON -> X / VERB _\nNOUN -> ADJ / _ zorblats/ANY\nthe/DET -> X"
    far = "NOUN -> VERB / PRON (X | ADJ)* _\nADJ -> X / _ NOUN"
    yield "fst-rules-composed", lambda: fst("n1").with_rules(rules(near))
    yield "fst-rules-of-words", lambda: fst("n1").with_rules(rules(words))
    yield "fst-rules-lazy", lambda: fst("lazy").with_rules(rules(near))
    yield "fst-rules-far", lambda: fst("lazy").with_rules(rules(far))
    yield "fst-phrases-composed", lambda: fst("n1").with_phrases()
    yield "fst-phrases-lazy", lambda: fst("lazy").with_phrases("DET? ADJ? NOUN", label="THING")
    yield (
        "fst-phrases-after-rules",
        lambda: fst("n1").with_rules(rules(words)).with_phrases(),
    )
    yield (
        "fst-lazy-rules-and-phrases",
        lambda: fst("lazy", max_states=64).with_rules(rules(f"{words}\n{far}")).with_phrases(),
    )
    yield "fst-s-rules", lambda: fst("s", corpus=WORDS).with_rules(rules(words))


def _treebank() -> tuple[str, list[list[Any]]]:
    """Give a text, and its sentences as tokens of one word or of two."""
    from sigmastar.corpus.annotated import Token, Word

    text, sentences = "", []
    for words, tags in zip(WORDS, TAGS, strict=True):
        sentences.append([])
        for word, tag in zip(words, tags, strict=True):
            begin = len(text)
            text += word
            parts = (Word(word, tag, tag[:1], word[:3]),)
            if word == "dogs":
                parts = (Word("dog", tag, tag[:1], "dog"), Word("s", "X", "X", "s"))
            sentences[-1].append(Token(begin, len(text), parts))
            text += "" if word == "barks" else " "
    return text, sentences


def _sensors() -> Iterator[tuple[str, Maker]]:
    robot = ss.datasets.make_robot_stream(6, 20, n_sonars=4, random_state=4)
    X, y = list(robot.inputs), [list(line) for line in robot.labels]

    def spectral(features: Any, **settings: Any) -> Any:
        settings = {"n_states": 2, "random_state": 0, "n_folds": 2} | settings
        return ss.SpectralSequenceTagger(features=features, **settings).fit(X, y)

    def centroids(metric: str = "euclidean", tau: float = 1.0) -> Any:
        return ss.CentroidFeatures(4, metric=metric, tau=tau, random_state=0)

    for metric in ("euclidean", "correlation", "cosine"):
        yield f"sensors-{metric}", lambda metric=metric: spectral(centroids(metric))
    readings = {"readings": "reciprocal", "limit": 0.5}
    yield "sensors-readings", lambda: spectral(centroids().set_params(**readings))
    for kernel in ("rbf", "laplacian", "quadratic"):
        points = centroids().set_params(kernel=kernel, n_landmarks=5)
        yield f"sensors-kernel-{kernel}", lambda points=points: spectral(points)
    yield "sensors-window", lambda: spectral(centroids(), window=2, memory=0.5)
    yield "sensors-sharp", lambda: spectral(centroids(), sharpness=[1.5, 2.0], start="first")
    yield "sensors-scaled", lambda: spectral(make_pipeline(StandardScaler(), centroids()))
    yield (
        "sensors-logistic",
        lambda: spectral(make_pipeline(StandardScaler(), LogisticRegression())),
    )
    yield (
        "sensors-forest",
        lambda: spectral(RandomForestClassifier(2, max_depth=2, random_state=0)),
    )
    yield "sensors-tree", lambda: spectral(DecisionTreeClassifier(max_depth=2), sharpness=0.5)
    boosted = {"n_estimators": 2, "max_depth": 2, "random_state": 0}
    yield "sensors-boosted", lambda: spectral(GradientBoostingClassifier(**boosted))
    yield (
        "sensors-without-features",
        lambda: spectral(MinMaxScaler()).model_.with_features(None),
    )
    rest = {"features": centroids(), "random_state": 0}
    yield "sensors-em", lambda: ss.EMSequenceTagger(2, max_iter=3, **rest).fit(X, y)
    yield "sensors-framewise", lambda: ss.FramewiseTagger(features=centroids()).fit(X, y).model_
    yield (
        "sensors-gibbs",
        lambda: ss.GibbsSequenceTagger(2, n_sweeps=3, n_draws=2, **rest).fit(X, y),
    )


def _measurements() -> Iterator[tuple[str, Maker]]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 2)) + np.repeat([[0.0, 0.0], [4.0, 1.0]], 20, axis=0)
    counts = np.round(np.abs(X))
    few = {"max_iter": 3, "random_state": 0}
    for covariance in ("full", "diag", "tied", "spherical", "low-rank"):
        yield (
            f"measured-{covariance}",
            lambda covariance=covariance: ss.GaussianHMM(2, covariance=covariance, **few).fit(X),
        )
    yield "measured-lasting", lambda: ss.GaussianHMM(2, min_duration=3, **few).fit(X)
    for covariance in ("full", "diag", "tied", "spherical", "low-rank"):
        kind = {"n_components": 2, "covariance": covariance}
        yield (
            f"measured-mixture-{covariance}",
            lambda kind=kind: ss.MixtureHMM(2, **kind, **few).fit(X),
        )
    yield "measured-tied-moves", lambda: ss.GaussianHMM(3, structure="tied", **few).fit(X)
    yield "measured-in-line", lambda: ss.GaussianHMM(3, structure="linear", **few).fit(X)
    yield "measured-counts", lambda: ss.PoissonHMM(2, **few).fit(counts)
    yield "measured-kinds", lambda: ss.MultinomialHMM(2, **few).fit(counts)
    yield "measured-symbols", lambda: ss.CategoricalHMM(2, **few).fit(counts[:, :1] % 3)
    both = {"speed": ss.emissions.Gaussian("diag"), "gear": ss.emissions.Categorical()}
    yield (
        "measured-several",
        lambda: ss.EmissionHMM(2, both, **few).fit({"speed": X[:, :1], "gear": counts[:, 1:] % 3}),
    )
    every = {
        "full": ss.emissions.Gaussian("full"),
        "mixed": ss.emissions.Mixture(2),
        "counts": ss.emissions.Poisson(),
        "kinds": ss.emissions.Multinomial(),
    }
    data = {"full": X, "mixed": X, "counts": counts[:, :1], "kinds": counts}
    yield "measured-all-families", lambda: ss.EmissionHMM(2, every, **few).fit(data)


def _transducers() -> Iterator[tuple[str, Maker]]:
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abc"), size=rng.integers(3, 6))) for _ in range(60)]
    aligned = [(text, text.translate(str.maketrans("abc", "xyx"))) for text in texts]
    yield "transducer-spectral", lambda: ss.SpectralTransducer(2, positions="all").fit(aligned)
    yield "transducer-em", lambda: ss.EMTransducer(2, max_iter=3, random_state=0).fit(aligned)
    yield "transducer-joint", lambda: ss.JointHMMTransducer(2, positions="all").fit(aligned)
    yield "transducer-k-hmm", lambda: ss.KHMMTransducer(2, positions="all").fit(aligned)
    yield (
        "transducer-parametric",
        lambda: ss.ParametricTransducer.normalized(
            rng.random(2),
            rng.random((2, 2, 2)),
            rng.random((2, 3)),
            ss.Alphabet([0, 1]),
            ss.Alphabet([10, 20, 30]),
        ),
    )


def _transliterators() -> Iterator[tuple[str, Maker]]:
    def learned(method: str, **settings: Any) -> Any:
        return ss.Transliterator(method, max_iter=3, align_iter=4, **settings).fit(NAMES)

    quick = {"order": 2, "n_states": 2, "n_folds": 2, "n_candidates": 4, "n_models": 1}
    for scorer in ("reverse", "short", "target", "spectral", "learnfst", "discriminative"):
        yield (
            f"names-{scorer}",
            lambda scorer=scorer: _folded(learned("combined", scorers=(scorer,), **quick)),
        )
    every = ("reverse", "short", "target", "spectral")
    yield "names-combined", lambda: _folded(learned("combined", scorers=every, **quick))
    yield "names-neural", lambda: _slim(learned("combined", scorers=("neural",), **quick))
    yield "names-joint-ngram", lambda: learned("joint-ngram", order=3)
    yield (
        "names-method-discriminative",
        lambda: _folded(learned("discriminative", n_models=1, target_form="decomposed")),
    )
    yield "names-joint-spectral", lambda: learned("joint-spectral", n_states=2)
    yield "names-method-learnfst", lambda: learned("learnfst", n_states=2)
    yield "names-method-em", lambda: learned("em", n_states=2)
    units = ((1, 0), (1, 1), (2, 1), (1, 2), (2, 2))
    sounds = [(list(source), [f"/{letter}/" for letter in target]) for source, target in NAMES]
    yield "names-lists", lambda: ss.Transliterator("joint-ngram", order=3, units=units).fit(sounds)


def _folded(estimator: Any) -> Stored:
    """Shrink the megabyte of weights of hashed features: their places are taken modulo its size."""
    stored = estimator.model_.to_stored()
    arrays = {
        name: array.reshape(-1, 64).sum(axis=0)
        if array.size >= 1 << 16 and array.ndim == 1
        else array
        for name, array in stored.arrays.items()
    }
    return Stored(stored.kind, arrays, stored.meta)


def _slim(estimator: Any) -> Stored:
    """Put networks of a few hundred parameters in the place of learned ones."""
    stored = _folded(estimator)
    shape = Shape(**stored.meta["parts"]["neural"])._replace(embedding=2, channels=3, hidden=4)
    rng = np.random.default_rng(0)
    networks = Neural(rng.normal(size=(2, n_parameters(shape))), shape).to_stored()
    stored.meta["parts"]["neural"] = networks.meta
    arrays = stored.arrays | {"neural:parameters": networks.arrays["parameters"]}
    return Stored(stored.kind, arrays, stored.meta)


def _checkpoint(estimator: str) -> Stored:
    """Write a checkpoint as a run leaves it that was stopped two steps before its end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.sigma"
        run = getattr(ss, estimator)(**CHECKPOINT_RUNS[estimator], random_state=3, checkpoint=path)
        run.fit(LOGS)
        stored = read_stored(path)
    meta = stored.meta | {"done": False, "iteration": stored.meta["iteration"] - 2}
    for history in ("history", "held_out"):
        meta[history] = meta[history][:-2]
    return Stored(stored.kind, stored.arrays, meta)


if __name__ == "__main__":
    found, failed = seed_files()
    for path in found:
        print(f"{path.stat().st_size:8} {path}")
    for name, reason in failed.items():
        print(f"could not make {name}: {reason}", file=sys.stderr)
