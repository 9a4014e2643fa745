"""The shell completes commands, options and the names that options take."""

import os
import subprocess
import sys

import pytest

from sigmastar.automata.estimators import registry
from sigmastar.automata.formats.files import MODEL_FORMATS
from sigmastar.automata.inference.scoring import Scoring
from sigmastar.bench import (
    runtimes,
    spice,
    transducer_synthetic,
    transliteration,
    wall_following,
    wall_following_files,
    wikipedia,
)
from sigmastar.bench.demo import PARTS
from sigmastar.cli import choices
from sigmastar.cli.options import model_files
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.readers.detect import FORMATS, TAGGED
from sigmastar.sensors.estimators.em import EMSequenceTagger
from sigmastar.sensors.features import centroids as continuous_features
from sigmastar.sensors.features.kernel_map import KERNELS
from sigmastar.sensors.inference.tag import DECODINGS
from sigmastar.tagging.taggers import fst_tagger
from sigmastar.tagging.text import stream as text
from sigmastar.transducers.transliteration import recipe


def complete(shell, line, **more):
    """Ask as the shell's own function does."""
    variables = {"_SIGMASTAR_COMPLETE": f"complete_{shell}", **more}
    if shell == "bash":
        variables |= {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    else:
        variables |= {"_TYPER_COMPLETE_ARGS": line}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "sigmastar"],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    loaded = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines()}
    assert not loaded & {"numba", "sklearn", "scipy", "matplotlib"}
    return done.stdout


def test_bash_completes_methods():
    assert complete("bash", "sigmastar learn x.txt --method spec").split() == [
        "spectral",
        "spectral-prefix",
        "spectral-string",
    ]


def test_zsh_completes_commands_with_their_meaning():
    answer = complete("zsh", "sigmastar tagger ")
    assert '"compile":"Compile a tagger into a transducer."' in answer
    assert '"evaluate"' in answer


def test_fish_completes_the_last_of_several_names():
    answer = complete(
        "fish", "sigmastar bench pautomac -m em,sep", _TYPER_COMPLETE_FISH_ACTION="get-args"
    )
    assert answer.splitlines() == [
        "em,separable\tseparable PFA",
        "em,separable-coupled\tthe same, one constraint a state",
    ]


def test_model_files_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.sigma", "ab_model.txt", "abc.txt", "b.sigma"):
        (tmp_path / name).touch()
    assert model_files("a") == ["a.sigma", "ab_model.txt"]
    assert model_files(f"{tmp_path}/b") == [f"{tmp_path}/b.sigma"]
    assert model_files("nowhere/") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_each_shell_is_shown(shell):
    done = subprocess.run(
        [sys.executable, "-m", "sigmastar"],
        env=os.environ | {"_SIGMASTAR_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "_SIGMASTAR_COMPLETE" in done.stdout
    assert "sigmastar" in done.stdout


SAME = {
    "AUTOMATON_METHODS": registry.METHODS,
    "CORPUS_FORMATS": [name for name in FORMATS if name != "chunks"],  # needs a size too
    "DECODINGS": DECODINGS,
    "DEMO_PARTS": PARTS,
    "EM_STARTS": EMSequenceTagger._rules["init"].options,
    "KERNELS": KERNELS,
    "FRAME_METRICS": continuous_features.METRICS,
    "READINGS": ("raw", *continuous_features.READINGS, "standard"),
    "MACHINE_KINDS": fst_tagger.KINDS,
    "MODEL_FORMATS": [*MODEL_FORMATS, "openfst", "dot"],
    "SPICE_METHODS": spice.METHODS,
    "SYNTHETIC": transducer_synthetic.EXPERIMENTS,
    "TAGGED_FORMATS": TAGGED,
    "TAG_INPUTS": text.INPUTS,
    "TAG_OUTPUTS": text.OUTPUTS,
    "TRANSLITERATION_METHODS": recipe.METHODS,
    "TRANSLITERATION_ROWS": transliteration.METHODS,
    "UNKNOWN": Unknown.__args__,
    "WALL_METHODS": [method.name for method in wall_following.methods()],
    "WALL_PARTS": wall_following_files.PARTS,
    "WIKIPEDIA_METHODS": wikipedia.METHODS,
    "RUNTIME_METHODS": runtimes.METHODS,
    "SCORING": Scoring.__args__,
    "CHUNKS": [*wikipedia.SETS, "both"],
}


@pytest.mark.parametrize("name", SAME)
def test_names_are_those_of_the_library(name):
    assert sorted(getattr(choices, name)) == sorted(SAME[name])
