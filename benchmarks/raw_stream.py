"""Memory and speed of a pipeline on raw text in a pipe: 10 MB and 100 MB through ``tagger tag``.

The text is --text FILE again and again; in every copy some words get an ending of their own, so
that new words keep coming. Peak memory is that of the process that tags, by the system's count.

    python benchmarks/raw_stream.py --model en.sigma --text enwiki-2015.txt.gz
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time

from sigmastar.corpus.readers.source import Source

CHANGED = re.compile(rb"\b[a-z]{9,}\b")


def copies(text, size):
    """Give the text until there are so many bytes, long words of each copy with its own ending."""
    given = number = 0
    while given < size:
        mark = b"" if number == 0 else b"q" + str(number).encode()
        copy = CHANGED.sub(lambda found, mark=mark: found[0] + mark, text)[: size - given]
        given += len(copy)
        number += 1
        yield copy


def tagged(model, text, size):
    """Tag so many bytes in a pipe; return seconds, words and peak memory in MB."""
    command = [sys.executable, "-m", "sigmastar", "tagger", "tag", model, "-"]
    began = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def feed():
            for copy in copies(text, size):
                process.stdin.write(copy)
            process.stdin.close()

        threading.Thread(target=feed).start()
        n_tabs = 0
        while chunk := process.stdout.read(1 << 20):
            n_tabs += chunk.count(b"\t")
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return time.perf_counter() - began, n_tabs // 9, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="a pipeline: sigmastar tagger pipeline")
    parser.add_argument("--text", required=True, help="raw text, compressed or not")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100], help="in MB")
    arguments = parser.parse_args()
    with Source(arguments.text) as source:
        text = b"".join(source.chunks())
    for size in arguments.sizes:
        seconds, n_words, memory = tagged(arguments.model, text, size * 10**6)
        print(
            f"{size:>5} MB: {seconds:7.1f} s, {n_words:,} words, "
            f"{n_words / seconds:,.0f} words/s, peak {memory:.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
