"""What workers keep between passes: no more than they have room for, and the same answers."""

import pickle
import sys

from sigmastar.core import cluster
from sigmastar.core.reduction import Reduction
from sigmastar.core.runners import Room


class _Length(Reduction):
    def summarize(self, part):
        return len(part)

    def merge(self, one, other):
        return one + other

    def finish(self, total):
        return total


def test_a_worker_keeps_what_it_has_room_for(monkeypatch):
    room = Room(3 * sys.getsizeof(bytes(1000)))
    monkeypatch.setattr(cluster, "_room_of_worker", lambda: room)
    built = []

    def build(shared, part, extra):
        built.append(part)
        return bytes(shared)

    sent = (build, 1000)
    layouts = [cluster._lay_out(sent, part, None) for part in range(6)]
    assert [layout.value is not None for layout in layouts] == [True] * 3 + [False] * 3
    assert built == [0, 1, 2, 3]  # the fourth told that there is no room
    assert sys.getsizeof(layouts[0]) > 1000 > sys.getsizeof(layouts[5])
    asked = (_Length(), lambda _, value, __: value, None)
    for part, layout in enumerate(layouts):
        assert cluster._summarize_laid_out(asked, None, layout, sent, part, None) == 1000
    assert built == [0, 1, 2, 3, 3, 4, 5]
    assert pickle.loads(pickle.dumps(layouts[0])).value is None  # a copy elsewhere is made anew
    layouts.clear()
    assert cluster._lay_out(sent, 9, None).value is not None
