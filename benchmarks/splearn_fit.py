"""Time one fit of scikit-splearn; run by the Python that has it (it needs numpy < 2).

Run: /path/to/that/python benchmarks/splearn_fit.py 6.pautomac.train.gz

Prints one JSON object: seconds of a ``factor`` fit, rows and columns of up to 4 symbols, rank 20.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
import time


def main(path: str) -> None:
    from splearn.datasets.base import load_data_sample
    from splearn.spectral import Spectral

    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as source, tempfile.NamedTemporaryFile("w", suffix=".train") as plain:
        plain.write(source.read())
        plain.flush()
        sample = load_data_sample(adr=plain.name)
    learner = Spectral()
    learner.set_params(
        lrows=4, lcolumns=4, rank=20, version="factor", partial=True, sparse=True, mode_quiet=True
    )
    started = time.perf_counter()
    learner.fit(sample.data)
    print(json.dumps({"seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main(sys.argv[1])
