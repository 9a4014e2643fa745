"""Names that options accept, told by name here so that completion need not load the library.

A test compares each list with the part of the library that it stands for.
"""

from __future__ import annotations

from sigmastar.automata.estimators.registry import METHODS as _REGISTRY

AUTOMATON_METHODS = {name: method.summary for name, method in _REGISTRY.items()}
STATISTICS = ("substring", "prefix", "string")
CORPUS_FORMATS = {
    "pautomac": "integers under a header, PAutomaC and SPiCe",
    "spice": "the same as pautomac",
    "treba": "integers, a sequence a line",
    "conllu": "words of CoNLL-U",
    "columns": "words of word and tag columns, as of HunPos and CoNLL",
    "tag-tsv": "words of word, UPOS and XPOS columns",
    "word-tag": "words of word/TAG lines",
    "pairs": "first column of tab-separated pairs",
    "jsonl": "JSON lines: lists of symbols, or objects that hold one",
    "words": "a sequence a line, split at spaces",
    "chars": "a sequence a line, every character a symbol",
}
MODEL_FORMATS = ("sigma", "pautomac", "treba", "att", "openfst", "dot")
UNKNOWN = {
    "error": "stop at the first",
    "ignore": "leave them out",
    "unk": "read them as the model's symbol for unknown ones",
}
SCORING = {
    "auto": "raw for probabilistic models, conditional for others",
    "raw": "the automaton's own value",
    "conditional": "clipped and normalised, always a probability",
}

TAGGED_FORMATS = ("conllu", "columns", "tag-tsv", "word-tag", "jsonl")
COLUMNS = ("upos", "xpos")
TAGGER_CLASSES = {"words": "every word its own scores", "sets": "ambiguity classes"}
TAGGER_TRAINING = {
    "counts": "scores from frequencies",
    "discriminative": "trained to tell right tags from wrong ones",
}
SMOOTHING = ("witten-bell", "deleted")
MACHINE_KINDS = {
    "n0": "greedy, without context",
    "n1": "greedy, one step of context",
    "n2": "greedy, two steps of context",
    "s": "exact on the subsequences it covers",
    "s+n0": "the same, completed with n0",
    "s+n1": "the same, completed with n1",
    "s+n2": "the same, completed with n2",
    "lazy": "exact, grows while it tags",
    "b": "the same with bounded look-ahead",
}
TAG_INPUTS = {
    "lines": "a sentence a line",
    "tokens": "a token a line, blank lines between sentences",
    "conllu": "CoNLL-U",
}
TAG_OUTPUTS = {"word/TAG": "a sentence a line", "tsv": "a token a line", "conllu": "CoNLL-U"}

TRANSLITERATION_METHODS = (
    "combined",
    "discriminative",
    "joint-ngram",
    "joint-spectral",
    "learnfst",
    "em",
)
EQUAL_MODELS = {
    "spectral": "LearnFST, by moments",
    "em": "a proper transducer, by EM",
    "joint-hmm": "one spectral HMM over pairs",
    "k-hmm": "one for each input symbol",
}
POSITIONS = {"first": "of each pair the first three", "all": "all, for stationary inputs"}
INPUT_MODELS = {
    "independent": "as published",
    "exact": "in any way, outputs depend on the past alone",
    "reweighted": "in any way",
}
PAIR_FORMATS = {
    "tsv": "tab-separated pairs",
    "dictionary": "words and phones as of WikiPron, CMU, Kaldi or MFA",
}
DICTIONARY_STYLES = ("wikipron", "cmu", "kaldi", "kaldi-probabilities", "mfa")
SOURCE_FORMS = ("auto", "given", "composed", "decomposed", "folded")
TARGET_FORMS = ("auto", "given", "decomposed", "split")
PAIR_SIDES = {"chars": "every character a symbol", "words": "symbols between spaces"}

SENSOR_METHODS = {
    "spectral": "moments",
    "em": "expectation-maximisation",
    "gibbs": "sampled automata over centroids",
    "framewise": "every frame by itself",
}
EM_STARTS = {"random": "random tables", "spectral": "the spectral tagger"}
FEATURES = {
    "forest": "random forest probabilities",
    "extra-trees": "those of extremely random trees",
    "boosting": "those of boosted trees",
    "tree": "those of one decision tree",
    "logistic": "logistic regression on centroids",
    "centroids": "similarities to k-means centroids",
}
KERNELS = {
    "rbf": "Gaussian",
    "laplacian": "exponential of absolute differences",
    "quadratic": "products of pairs",
}
FRAME_METRICS = ("euclidean", "correlation", "cosine")
READINGS = {
    "raw": "nothing",
    "clip": "at most --limit",
    "reciprocal": "one over it",
    "log": "its logarithm",
    "standard": "standard units; all for features of centroids",
}
DECODINGS = {
    "marginal": "each frame given the whole sequence",
    "filter": "each frame given those so far",
    "exact": "the best labelling as a whole, by search",
}

MACHINES_DRAWN = {
    "hmm": "hidden Markov models",
    "pfa": "probabilistic automata",
    "dpfa": "deterministic automata",
}
TABLES = ("1", "2", "accuracy", "composition", "trained", "all")
RUNTIME_METHODS = (
    "spectral-string",
    "spectral",
    "convex",
    "tensor",
    "em",
    "em-tensor",
    "separable",
    "bw-sep",
)
CHUNKS = ("small", "medium", "both")
PAIR_SIZES = {"news": "5,977 training pairs", "full": "105,371, noisy"}
WIKIPEDIA_METHODS = ("spectral", "separable", "em", "em-separable", "mixture", "kneser-ney")
SPICE_METHODS = ("kneser-ney-3", "kneser-ney-6", "spectral", "auto", "mixture")
DEMO_PARTS = {
    "automaton": "a machine learned back from its strings",
    "text": "a tagger compiled into transducers",
    "names": "transliteration",
    "sensors": "movements of a robot",
}
SYNTHETIC = ("difficulty", "length", "baselines", "schur", "dependence")
G2P_LANGUAGES = tuple("ady arm bul dut fre geo gre hin hun ice jpn kor lit rum vie".split())
TRANSLITERATION_TABLES = {
    "methods": "every method beside other tools",
    "data": "properties of the data, Table 1 of the paper",
    "states": "error by the number of states, Table 2",
    "times": "seconds of an EM iteration, Table 3",
    "curves": "learning curves of LearnFST and EM, Figure 4",
}
TRANSLITERATION_ROWS = (
    "LearnFST, m = 1",
    "LearnFST, m = 2",
    "LearnFST, m = 3",
    "LearnFST, m = 4",
    "LearnFST, m = 5",
    "EM transducer, m = 2",
    "EM transducer, m = 3",
    "joint spectral",
    "joint n-gram",
    "discriminative",
    "combined",
)
WALL_METHODS = (
    "FST",
    "EM",
    "Bayesian",
    "CWFST",
    "FST, readings chosen",
    "EM, readings chosen",
    "Bayesian, readings chosen",
    "CWFST, readings chosen",
    "EM from spectral",
    "EM, 400 centroids",
    "CWFST, 400 centroids",
    "logistic, frames alone",
    "CWFST, logistic partition",
    "forest, frames alone",
    "boosting, frames alone",
    "CWFST, boosted pairs of frames",
    "forest on sonar arcs, frames alone",
    "CWFST, forest on sonar arcs",
)
WALL_PARTS = ("table1", "table2", "figure1", "figure2")
ON_ERROR = {"raise": "stop there", "skip": "leave it out, and list it"}
