"""Settings shared by all tests."""

import hypothesis

# The same examples on every run, without deadlines: compiling a kernel may fall into any of them.
hypothesis.settings.register_profile("sigmastar", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.load_profile("sigmastar")
