"""Model files that version 0.1.0 wrote load, and say what they said then."""

import io
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.loading import _PARTS, known_kinds

DATA = Path(__file__).parent / "data" / "v010"


def revive(entry):
    """Turn what JSON has no word for back into symbols."""
    if entry.keys() == {"bytes"}:
        return bytes.fromhex(entry["bytes"])
    if entry.keys() == {"tuple"}:
        return tuple(entry["tuple"])
    return ss.END if "end" in entry else entry


EXPECTED = json.loads((DATA / "expected.json").read_text(encoding="utf-8"), object_hook=revive)
MODELS, CHECKPOINTS = EXPECTED["models"], EXPECTED["checkpoints"]


def ask_automaton(model, of, unknown="error", whole=True):
    X = ss.Corpus.from_sequences(of, alphabet=model.alphabet, unknown=unknown)
    scores = ss.log_proba(model, X) if whole else ss.log_prefix_proba(model, X)
    said = {
        "symbols": [model.alphabet.symbols, model.alphabet.unk],
        "log_proba": scores,
        "log_prefix_proba": ss.log_prefix_proba(model, X),
        "next": ss.predict_next(model, X, 3),
        "drawn": ss.sample(model, 5, length=None if whole else 6, random_state=7),
    }
    if whole:
        said["likeliest"] = ss.likeliest_strings(model, 4)
    if model.kind != "WFA":  # the states of a general WFA have no probabilities
        possible = X.take(np.flatnonzero(scores > -np.inf))
        said["states"], said["path_log_proba"] = ss.viterbi(model, possible, whole=whole)
        said["posterior"] = ss.posterior(model, possible[:2], whole=whole)
    return said


def ask_ngram(model, of, unknown="error"):
    est = ss.KneserNey(unknown=unknown)
    est.model_, est.alphabet_ = model, model.alphabet
    return {
        "symbols": [model.alphabet.symbols, model.alphabet.unk],
        "log_proba": est.log_proba(of),
        "next": est.predict_next(of, 3),
        "drawn": est.sample(4, length=8, random_state=7),
    }


def ask_text_tagger(model, of):
    written = io.BytesIO()
    model.tag_file(io.BytesIO("\n".join(map(" ".join, of)).encode()), written)
    said = {"tags": model.predict(of), "written": written.getvalue().decode()}
    return said | ({"chances": model.predict_proba(of)} if model.kind == "HMMTagger" else {})


def ask_continuous_tagger(model, of):
    X = [np.array(frames) for frames in of]
    stream = ss.TagStream(model)
    said = {"stream": [stream.push_proba(frame) for frame in X[0]]}
    for decoding in ("marginal", "filter", "exact"):
        tagged = ss.tag_frames(model, X, decoding=decoding)
        said[decoding] = [tagged.labels, tagged.confidence]
    return said


def ask_transducer(model, of, unknown="error"):
    est = ss.EMTransducer(unknown=unknown)
    est.model_ = model.to_transducer() if model.kind == "ParametricTransducer" else model
    inputs = [x for x, _ in of]
    return {
        "symbols": [[a.symbols, a.unk] for a in (model.input_alphabet, model.output_alphabet)],
        "log_proba": est.log_proba(of),
        "log_weight": est.log_proba(of, proper=False),
        "best": est.n_best(inputs, 3),
        "marginal": est.predict(inputs, decoding="marginal"),
        "drawn": est.sample(inputs, random_state=7),
    }


def ask_transliterator(model, of):
    (best, report), (single, _) = model.apply(of, n_best=3), model.apply(of)
    return {"best": best, "report": report, "single": single}


ASK = dict.fromkeys(("WFA", "PFA", "HMM"), ask_automaton)
ASK |= dict.fromkeys(("Transducer", "ParametricTransducer"), ask_transducer)
ASK |= dict.fromkeys(("HMMTagger", "FSTTagger"), ask_text_tagger)
ASK |= {"Ngram": ask_ngram, "Transliterator": ask_transliterator}
ASK |= {"ContinuousTagger": ask_continuous_tagger}


def check(found, told, where):
    """Compare what a model says with what it said: numbers nearly, all else exactly."""
    if isinstance(told, float):  # abs_tol: the logarithm of nearly one is noise
        assert math.isclose(found, told, rel_tol=1e-12, abs_tol=1e-14), f"{where}: {found}, {told}"
    elif isinstance(told, (dict, list)):
        found = found.tolist() if isinstance(found, np.ndarray) else found
        assert (len(found), isinstance(found, str)) == (len(told), False), where
        for key, one in told.items() if isinstance(told, dict) else enumerate(told):
            check(found[key], one, f"{where}[{key!r}]")
    else:  # 1, True and 1.0 are equal, but different symbols
        assert (found, type(found)) == (told, type(told)), where


@pytest.mark.parametrize("name", MODELS)
def test_an_old_model_says_what_it_said(name):
    entry = MODELS[name]
    for package in entry["needs"]:
        pytest.importorskip(package)
    model = ss.load(DATA / name)
    says, said = ASK[model.kind](model, entry["of"], **entry["options"]), dict(entry["says"])
    if name == "transducer-unk.sigma":
        # The beam of 0.1.0 lost one of the best outputs where others tied at its edge.
        lists = list(zip(says.pop("best"), said.pop("best"), strict=True))
        changed = [number for number, (new, old) in enumerate(lists) if new[1][0] != old[1][0]]
        assert changed == [0]
        (_, second, third), (first, lost, _) = lists.pop(0)
        assert second[1] > third[1] == lost[1]
        assert lost[1] < first[1]
        for number, (new, old) in enumerate(lists):
            check(new, old, f"{name}['best'][{number + 1}]")
    check(says, said, name)


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if entry["history"]])
def test_the_history_of_an_old_model_reaches_its_report(name, tmp_path):
    told, untold = tmp_path / "told.html", tmp_path / "untold.html"
    ss.write_report(DATA / name, told)
    ss.write_report(ss.load(DATA / name), untold)
    assert told.read_bytes().count(b"<h3") > untold.read_bytes().count(b"<h3")


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_training_goes_on_from_an_old_checkpoint(name, tmp_path):
    # The parameters in the file are rounded: a run from the beginning would arrive elsewhere.
    entry = CHECKPOINTS[name]
    path = shutil.copy(DATA / name, tmp_path)
    est = getattr(ss, entry["estimator"])(**entry["settings"], checkpoint=path).fit(entry["of"])
    check(est.info_["objective"], entry["objective"], name)


def test_there_is_an_old_file_of_every_kind():
    since = {
        "ContextMixture",
        "Lemmatizer",
        "MeasurementHMM",
        "Pipeline",
        "Tokenizer",
    }  # kinds that version 0.1.0 did not have
    assert {ss.load(DATA / name).kind for name in MODELS} == set(known_kinds()) - since


def test_every_old_file_is_asked():
    assert {path.name for path in DATA.glob("*.sigma")} == MODELS.keys() | CHECKPOINTS.keys()


def test_loading_knows_who_brings_each_kind():
    named = {kind: part for kinds, part in _PARTS.items() for kind in kinds}
    assert named == {model.kind: part for part in _PARTS.values() for model in part()}
