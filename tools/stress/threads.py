"""Ask one model of every kind from many threads at once: each answer must be the serial one.

Run ``python tools/stress/threads.py --minutes 10 --threads 8``; and again with ``--switch 1e-6``,
which makes the interpreter change threads thousands of times as often. Any difference, and any
exception that the same question did not raise by itself, makes the exit code 1.
"""

from __future__ import annotations

import checkout  # isort: skip  # noqa: F401

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from equal import same
from seeds import TAGS, WORDS, seed_files
from ways import WAYS

import sigmastar as ss

__all__ = ["main"]

_WRITES = ("write_model", "save", "report", "to_openfst", "from_hmm", "with_", "tag_file")


class Question(NamedTuple):
    """A call on a shared model, and what it gave when it was made alone."""

    model: str
    name: str
    ask: Callable[[], Any]
    answer: Any


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--switch", type=float, help="seconds after which threads change")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.switch:
        sys.setswitchinterval(options.switch)
    with tempfile.TemporaryDirectory() as folder:
        questions = list(_questions(Path(folder)))
        asked, wrong = _storm(questions, options)
    kinds = len({question.model for question in questions})
    print(
        f"{options.threads} threads, {options.minutes:g} minutes, switch interval "
        f"{sys.getswitchinterval():g} s: {sum(asked.values()):,} answers of {len(questions)} "
        f"questions to {kinds} models, {sum(wrong.values())} different"
    )
    for (model, name), count in wrong.most_common():
        print(f"  {model}: {name}: {count} of {asked[model, name]}")
    return int(bool(wrong))


def _questions(folder: Path) -> Any:
    for name, model in _models():
        seen = set()
        for call, ask in WAYS[model.kind](model, folder / "model.sigma", random.Random(1)):
            if call.startswith(_WRITES) or call in seen:
                continue
            seen.add(call)
            yield Question(name, call, ask, _answer(ask))
        if hasattr(model, "predict") and model.kind.endswith("Tagger"):
            yield from _sentences(name, model)


def _models() -> Any:
    files, failures = seed_files()
    for name, reason in failures.items():
        print(f"seed {name}: {reason}", file=sys.stderr)
    for path in files:
        if not path.stem.startswith("checkpoint"):
            yield path.stem, ss.load(path)
    # Words met once only, and a memory of them that is always full: what threads fight over.
    small = ss.HMMTagger(2, rare_count=3, max_suffix=2).fit(WORDS, TAGS)
    yield "lazy that starts anew", ss.FSTTagger.from_hmm(small, "lazy", max_states=64)


def _sentences(name: str, model: Any) -> Any:
    """Give batches of sentences full of words that nobody has met."""
    rng = random.Random(5)
    known = [word for sentence in WORDS for word in sentence]
    for batch in range(12):
        sentences = [
            [
                rng.choice(known) if rng.random() < 0.5 else f"w{batch}x{rng.randrange(400)}ed"
                for _ in range(rng.randrange(1, 25))
            ]
            for _ in range(40)
        ]

        def ask(sentences: list[list[str]] = sentences) -> Any:
            return model.predict(sentences)

        yield Question(name, f"sentences {batch}", ask, _answer(ask))


def _answer(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except ss.errors.SigmastarError as error:
        return error


def _storm(questions: list[Question], options: argparse.Namespace) -> tuple[Any, Any]:
    asked: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    lock = threading.Lock()
    end = time.monotonic() + 60 * options.minutes
    start = threading.Barrier(options.threads)

    def work(number: int) -> None:
        rng = random.Random(options.seed * 1000 + number)
        start.wait()
        while time.monotonic() < end:
            # Bursts on one model: that is where threads meet.
            model = rng.choice(questions).model
            for question in rng.sample(by_model[model], min(4, len(by_model[model]))):
                try:
                    good = same(_answer(question.ask), question.answer)
                except Exception as error:
                    print(f"{question.model}: {question.name}: {error!r}", file=sys.stderr)
                    good = False
                with lock:
                    asked[question.model, question.name] += 1
                    wrong[question.model, question.name] += not good

    by_model: dict[str, list[Question]] = {}
    for question in questions:
        by_model.setdefault(question.model, []).append(question)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(options.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return asked, +wrong


if __name__ == "__main__":
    sys.exit(main())
