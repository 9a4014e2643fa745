"""Settings shared by all tests."""

from importlib.util import find_spec

import hypothesis

# The same examples on every run, without deadlines: compiling a kernel may fall into any of them.
hypothesis.settings.register_profile("sigmastar", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.load_profile("sigmastar")

# Pynini has wheels for Linux only; elsewhere the bridge to it cannot be tested.
collect_ignore = [] if find_spec("pynini") else ["test_openfst.py"]
