"""The garbage collector rests, and works again."""

import gc

from sigmastar.core.garbage import collector_resting


def test_the_collector_works_again_unless_it_was_switched_off():
    with collector_resting():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_resting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
