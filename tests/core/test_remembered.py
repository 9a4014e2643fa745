"""What is remembered is bounded for all who remember, and the greatest forget first."""

import gc

import sigmastar.core.remembered as module
from sigmastar.core.remembered import Budget, Lately


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


def test_what_is_asked_about_lately_is_made_once(monkeypatch):
    monkeypatch.setattr(module, "_GENERATION", 10)
    made = []

    def make(number):
        made.append(number)
        return str(number)

    lately = Lately(lambda number, text: 1)
    for turn in range(200):
        keys = [turn, 0, 1, turn]  # the second and third are frequent
        assert lately.find(keys, make) == list(map(str, keys))
        assert len(lately) <= 20
    assert made == sorted(set(made))


def test_generations_that_go_take_no_room(monkeypatch):
    budget = Budget(10**6)
    monkeypatch.setattr(module, "_GENERATION", 10)
    monkeypatch.setattr(module, "remembered", budget)
    lately = Lately(lambda number, text: 7)
    for number in range(1, 500):
        lately.one(number, str)
        assert budget.held == 7 * min(number, 10 + (number - 1) % 10 + 1)
    lately.forget()
    budget.drop(lately)
    lately.one(1, str)
    assert (budget.held, len(lately), list(lately)) == (7, 1, [1])


def test_the_greatest_entries_are_not_remembered():
    lately = Lately(lambda number, text: number)
    assert lately.find([1024, 1025], str) == ["1024", "1025"]
    assert list(lately) == [1024]
