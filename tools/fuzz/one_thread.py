"""Imported first: this checkout is what is tried, on one thread, so that workers can be forked."""

import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
for name in ("SIGMASTAR_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
os.environ.setdefault("NUMBA_THREADING_LAYER", "workqueue")
warnings.simplefilter("ignore")  # hostile numbers overflow, and may
