"""What is remembered is bounded for all who remember, and the greatest forget first."""

import gc

from sigmastar.core.remembered import Budget


class Keeper:
    def __init__(self):
        self.forgot = 0

    def forget(self):
        self.forgot += 1


def test_all_together_stay_within_the_budget():
    budget, keepers = Budget(1000), [Keeper() for _ in range(50)]
    for turn in range(2000):
        budget.grow(keepers[turn * 7 % 50], 1 + turn % 90)
        assert budget.held <= 1000


def test_the_greatest_forgets_and_the_others_do_not():
    budget, small, great, last = Budget(1000), Keeper(), Keeper(), Keeper()
    budget.grow(small, 300)
    budget.grow(great, 600)
    budget.grow(last, 200)
    assert (small.forgot, great.forgot, last.forgot) == (0, 1, 0)
    assert budget.held == 500


def test_who_is_gone_takes_no_room():
    budget, stays = Budget(1000), Keeper()
    budget.grow(stays, 300)
    for _ in range(5):
        budget.grow(Keeper(), 600)
        gc.collect()
    assert stays.forgot == 0


def test_who_has_forgotten_takes_no_room():
    budget, one, other = Budget(1000), Keeper(), Keeper()
    budget.grow(one, 600)
    budget.drop(one)
    budget.grow(other, 700)
    assert (one.forgot, other.forgot, budget.held) == (0, 0, 700)
