"""Small tagging models, enumeration of tag sequences, and the paper's equations in Pynini."""

from itertools import product

import numpy as np

from sigmastar.tagging.model import TagModel, class_names, fixed_point


def random_model(seed, *, order=1, n_tags=4, sets=None, context=False, near=False):
    """Draw a model; by default each tag has an unambiguous class, and there are four others."""
    rng = np.random.default_rng(seed)
    if sets is None:
        sets = [(t,) for t in range(n_tags)] + [(0, 1), (1, 2), (0, 2, 3), (1, 3)]
    offsets = np.concatenate(([0], np.cumsum([len(s) for s in sets])))
    candidates = np.concatenate([np.array(s) for s in sets])

    def log_rows(*shape):
        return fixed_point(np.log(rng.dirichlet(np.full(n_tags + 1, 0.4), shape) + 1e-4))

    rows = np.full(len(sets), -1)
    table = np.zeros((0, n_tags + 1), np.int32)
    if context:
        rows[-1] = 0
        table = fixed_point(rng.uniform(0, 2, (len(sets[-1]), n_tags + 1)))
    return TagModel(
        tags=tuple(f"T{t}" for t in range(n_tags)),
        bigram=log_rows(n_tags + 1),
        trigram=log_rows(n_tags + 1, n_tags + 1) if order == 2 else np.zeros((0, 0, 0)),
        offsets=offsets,
        candidates=candidates,
        scores=fixed_point(rng.normal(0, 1, len(candidates))),
        context_rows=rows,
        context=table,
        **(_neighbours(rng, len(sets), n_tags) if near else {}),
    )


def _neighbours(rng, n_classes, n_tags):
    """Let most classes say something on the tags of their neighbours."""
    rows = rng.integers(-1, 3, (2, n_classes))
    after, before = fixed_point(rng.normal(0, 1, (2, 3, n_tags + 1)))
    return {"after_rows": rows[0], "after": after, "before_rows": rows[1], "before": before}


def path_score(model, codes, tags):
    """Add up the scores of one tag sequence, boundaries included."""
    end = model.n_tags
    older, old, total, neighbour = end, end, 0, None
    for code, tag in zip(codes, tags, strict=True):
        if neighbour is not None and model.after_rows[neighbour] >= 0:
            total += int(model.after[model.after_rows[neighbour], tag])
        if model.before_rows[code] >= 0:
            total += int(model.before[model.before_rows[code], old])
        neighbour = code
        first, last = model.offsets[code : code + 2]
        which = int(np.flatnonzero(model.candidates[first:last] == tag)[0])
        total += int(model.scores[first + which])
        if model.context_rows[code] >= 0:
            total += int(model.context[model.context_rows[code] + which, old])
        total += int(model.trigram[older, old, tag] if model.order == 2 else model.bigram[old, tag])
        older, old = old, tag
    move = model.trigram[older, old, end] if model.order == 2 else model.bigram[old, end]
    return total + int(move)


def all_taggings(model, codes):
    """List every possible tag sequence."""
    return list(product(*(model.candidates[a:b] for a, b in _spans(model, codes))))


def _spans(model, codes):
    return [(model.offsets[c], model.offsets[c + 1]) for c in codes]


def random_sentences(rng, n_classes, n, longest=8):
    """Draw class sequences; return codes and starts."""
    lengths = rng.integers(0, longest + 1, n)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    return rng.integers(0, n_classes, starts[-1]).astype(np.int32), starts


def composed_s_type(model, max_length, viterbi):
    """Build the s-type by equations (10) to (18) of Kempe (1997).

    ``viterbi(codes, before, end)`` tags a subsequence after a tag (None: at the beginning of a
    sentence) and before a class (None: the end, which is an unambiguous class, as in the paper).
    """
    import pynini

    names = class_names(model)
    ambiguous = np.flatnonzero(model.is_ambiguous).tolist()
    plain = np.flatnonzero(~model.is_ambiguous).tolist()
    upper = [*names, "END", *(f"0.{names[c]}" for c in plain)]
    lower = [
        *model.tags,
        "END",
        *(f"0.{model.tags[model.candidates[model.offsets[c]]]}" for c in plain),
    ]
    lower = list(dict.fromkeys(lower))
    symbols = pynini.SymbolTable()
    symbols.add_symbol("<eps>")
    for name in dict.fromkeys([*upper, *lower]):
        symbols.add_symbol(name)

    def word(strings):
        fst = pynini.accep("")
        for string in strings:
            one = pynini.Fst()
            one.add_states(2)
            one.set_start(0)
            one.set_final(1)
            label = symbols.find(string)
            one.add_arc(0, pynini.Arc(label, label, 0, 1))
            fst = fst + one
        return fst

    def union_of(strings):
        return pynini.union(*(word([s]) for s in strings)).optimize()

    def tag_name(code):
        return model.tags[model.candidates[model.offsets[code]]]

    ends = [*plain, None]
    initial, middle = [], []
    for length in range(max_length):
        for inner in product(ambiguous, repeat=length):
            for end in ends:
                tail_class = "END" if end is None else names[end]
                tail_tag = "END" if end is None else tag_name(end)
                read = [names[c] for c in inner]
                tags = [model.tags[t] for t in viterbi(inner, None, end)]
                initial.append(
                    pynini.cross(word([*read, tail_class]), word([*tags, tail_tag]))
                )  # eq. (10)
                for start in plain:
                    before = int(model.candidates[model.offsets[start]])
                    tags = [model.tags[t] for t in viterbi(inner, before, end)]
                    middle.append(  # eq. (11) and (13)
                        pynini.cross(
                            word([f"0.{names[start]}", *read, tail_class]),
                            word([f"0.{tag_name(start)}", *tags, tail_tag]),
                        )
                    )
    sentence = (pynini.union(*initial) + pynini.union(*middle).star).optimize()  # eq. (14)
    everything = union_of(upper).star.optimize()
    constraint = everything
    for c in plain:  # eq. (15): a marked class follows the same class unmarked, and nothing else
        other = pynini.difference(everything, everything + word([names[c]])).optimize()
        wrong = other + word([f"0.{names[c]}"]) + everything
        missing = (
            everything
            + word([names[c]])
            + pynini.difference(union_of(upper), word([f"0.{names[c]}"])).optimize()
            + everything
        )
        constraint = pynini.difference(
            constraint, pynini.union(wrong, missing).optimize()
        ).optimize()
    marked_classes = union_of([f"0.{names[c]}" for c in plain])
    marked_tags = union_of([name for name in lower if name.startswith("0.")])
    insert = (
        union_of([*names, "END"]) | pynini.cross("", marked_classes)
    ).star.optimize()  # eq. (16)
    delete = (
        union_of([*model.tags, "END"]) | pynini.cross(marked_tags, "")
    ).star.optimize()  # (17)
    return (insert @ constraint @ sentence @ delete).optimize(), symbols, word  # eq. (18)
