"""The commands there are, the examples in their help, and small files for these to run on."""

import io
import os
import re
import shlex
import sys
from contextlib import redirect_stdout
from unittest import mock

import numpy as np
from typer.main import get_command

import sigmastar as ss
from sensors.oracles import robot_walk
from sigmastar.cli.main import app

ROOT = get_command(app)
EXAMPLE = re.compile(r"^ *((?:(?:echo|cat) [^|]+ \| )?sigmastar .*?) *$", re.MULTILINE)


def commands(command=ROOT, path=()):
    """Give every command and group with the words that call it."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


def called(arguments, given=""):
    """Run a command in this process; return what it printed on standard output."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    typed = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    with mock.patch.object(sys, "stdin", typed), redirect_stdout(printed):
        code = ROOT.main(arguments, prog_name="sigmastar", standalone_mode=False)
    assert code in (None, 0), (arguments, code)
    printed.flush()
    return printed.buffer.getvalue().decode()


def help_text(path):
    """Return what ``--help`` prints on a terminal of 80 columns."""
    with mock.patch.dict(os.environ, {"COLUMNS": "80", "TERM": "dumb"}):
        return called([*path, "--help"])


def examples(text):
    """Return the examples of a help text, before its lists of options."""
    return EXAMPLE.findall(text.partition("╭─")[0])


def taken_apart(example):
    """Return what an example reads from a pipe, its arguments, and the file it is sent to."""
    before, _, after = example.rpartition("| ")
    words = shlex.split(after)
    target = words.pop(words.index(">") + 1) if ">" in words else None
    words = [word for word in words if word != ">"]
    assert words.pop(0) == "sigmastar"
    return shlex.split(before), words, target


def run_example(example):
    """Run an example as a shell would, in this process."""
    source, arguments, target = taken_apart(example)
    given = ""
    if source[:1] == ["echo"]:
        given = " ".join(source[1:]) + "\n"
    elif source[:1] == ["cat"]:
        with open(source[1], encoding="utf-8") as file:
            given = file.read()
    printed = called(arguments, given)
    if target is not None:
        with open(target, "w", encoding="utf-8") as file:
            file.write(printed)


def write_files(folder):
    """Write the files that the examples name, small and made up."""
    logs = ["open read close", "open write close", "open close", "open read read close"] * 15
    texts = {
        "logs.txt": logs,
        "new.txt": logs[:3],
        "test.txt": logs[:5],
        "names.txt": ["anna", "max", "nana"] * 10,
        "words.txt": ["anna", "max", "nana"],
        "prefixes.txt": ["an", "ma"],
        "text.txt": ["the dog walks .", "the walk ."],
        "book.txt": ["The dog walks. The walk (a walk!)", "", "Dogs."],
        "rules.txt": ["VB -> NN / DT _"],
        "brown.txt": ["the/DT dog/NN walks/VBZ ./.", "to/TO walk/VB ./."] * 6,
        "sounds.tsv": ["max\tm a k s", "anna\ta n a", "nana\tn a n a"] * 6,
    }
    pairs = ["max\tмакс", "anna\tанна", "axa\tакса", "nana\tнана"] * 6
    texts["cmu.dict"] = ["max  M AE1 K S", "anna  AE1 N AH0", "nana  N AE1 N AH0"] * 6
    texts |= {"pairs.tsv": pairs, "dev.tsv": pairs[:8], "test.tsv": pairs[:4]}
    same = ["aaba\txxxy", "baaa\tyxxx", "aaab\tyyyy", "abaa\txxyy", "aaaa\txxxx"]
    texts["same.tsv"] = same * 6
    sentences = []
    for line in texts["brown.txt"]:
        tokens = [token.rsplit("/", 1) for token in line.split()]
        upos = {"DT": "DET", "NN": "NOUN", "VBZ": "VERB", "VB": "VERB", "TO": "PART", ".": "PUNCT"}
        rows = [
            f"{i}\t{word}\t{word.removesuffix('s')}\t{upos[tag]}\t{tag}\t_\t_\t_\t_\t_"
            for i, (word, tag) in enumerate(tokens, 1)
        ]
        sentences.append("\n".join(rows) + "\n")
    texts |= {"train.conllu": sentences, "test.conllu": sentences[:2]}
    frames, labels = robot_walk(0, n_sequences=12)
    walk = ["sequence,a,b,mode"] + [
        f"{i},{float(a)!r},{float(b)!r},{label}"
        for i in range(12)
        for (a, b), label in zip(frames[i], labels[i], strict=True)
    ]
    texts |= {"walk.csv": walk, "test.csv": walk[:61], "new.csv": walk[:31]}
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    _write_machines(folder, [line.split() for line in logs])


def _write_machines(folder, logs):
    problem = ss.datasets.make_problem(
        "pfa", n_states=3, n_symbols=4, n_train=300, n_test=20, random_state=0
    )
    for name, corpus in (("train", problem.train), ("test", problem.test)):
        rows = [f"{len(corpus)} 4", *(f"{len(s)} {' '.join(map(str, s))}" for s in corpus)]
        (folder / f"{name}.pautomac").write_text("\n".join(map(str.rstrip, rows)) + "\n")
    solution = np.exp(ss.log_proba(problem.model, problem.test))
    solution /= solution.sum()
    (folder / "solution.txt").write_text(
        "\n".join([f"{len(solution)}", *map(repr, map(float, solution))])
    )
    ss.write_model(problem.model, folder / "true_model.txt")
    for name, sequences in (("model", logs), ("logs", logs), ("chars", ["anna", "max"] * 10)):
        ss.SpectralWFA(2).fit(sequences).model_.save(folder / f"{name}.sigma")
