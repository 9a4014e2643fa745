"""The combination of scorers is fitted on pairs that none of them had learned from."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.transducers.transliteration import combine, learn

LETTERS = dict(zip("abdegiklx", "а б д е г и к л кс".split(), strict=True))


def draw(n, seed):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list(LETTERS), size=rng.integers(4, 9))) for _ in range(n)]
    return [(word, "".join(LETTERS[letter] for letter in word)) for word in dict.fromkeys(words)]


def spelled(corpus):
    return {("".join(x), "".join(y)) for x, y in corpus}


@pytest.mark.parametrize("given", [True, False], ids=["development pairs", "a part held out"])
def test_judges_never_saw_the_pairs_they_are_judged_on(monkeypatch, given):
    learned_from, judged = {}, []
    train_parts, judge = combine.train_parts, combine.judge

    def trained(pairs, *more, **options):
        result = train_parts(pairs, *more, **options)
        learned_from[id(result.alignment)] = spelled(pairs)
        return result

    def watched(pairs, models, recipe):
        judged.append((spelled(pairs), learned_from[id(models.alignment)]))
        return judge(pairs, models, recipe)

    for module in (combine, learn):
        monkeypatch.setattr(module, "train_parts", trained)
    monkeypatch.setattr(combine, "judge", watched)
    train, dev = draw(60, 0), [pair for pair in draw(15, 1) if pair not in set(draw(60, 0))]
    names = ss.Transliterator(n_folds=3, scorers=("short",), source_form="given")
    names.set_params(target_form="given", n_epochs=1).fit(train, dev=dev if given else None)
    assert len(judged) == 4  # three folds, and the pairs that balance
    assert all(len(pairs) and not pairs & seen for pairs, seen in judged)
    covered = set().union(*(pairs for pairs, _ in judged))
    assert covered == set(train) | (set(dev) if given else set())


def test_forms_are_judged_by_pairs_that_no_model_of_them_saw(monkeypatch):
    judged = []

    def watched(pairs, others, recipe):
        judged.append((spelled(others), spelled(pairs)))
        return 0.0

    monkeypatch.setattr(learn, "_n_right", watched)
    train = [(word.title(), name) for word, name in draw(60, 0)]  # capitals: forms that differ
    ss.Transliterator("joint-ngram").fit(train)
    assert len(judged) == 6  # three folds, as given and without capitals
    assert all(len(pairs) and not pairs & seen for pairs, seen in judged)
    assert set(train) <= set().union(*(pairs for pairs, _ in judged))
