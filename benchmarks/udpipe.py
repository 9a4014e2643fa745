"""Tokens, sentences, tags and lemmas of raw text beside UDPipe 1, in one run on the same file.

UDPipe learns its tokenizer and tagger (no parser) from the training part of a treebank in CoNLL-U,
with the settings of its released models for English EWT (tokenizer: those of UD 2.6, tagger: those
of UD 2.0), but fewer epochs of the tokenizer by default: all 100 take about three hours, and 20
iterations of the tagger most of one. It sees the development part too, by which it chooses an
epoch. The model is kept in --model and used again.

sigmastar takes a saved pipeline (sigmastar tagger pipeline), or learns one from the same part.

Both then tag the text of the part asked for, one core each; what they find is counted as the
shared tasks of CoNLL do (sigmastar.metrics.text_scores). Needs ufal.udpipe (pip install
ufal.udpipe).
"""

import argparse
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

os.environ["SIGMASTAR_THREADS"] = "1"

import sigmastar as ss
from sigmastar.corpus.readers.source import Source
from sigmastar.metrics import text_scores
from timing import best_of

try:
    import ufal.udpipe as udpipe
except ImportError:
    sys.exit("This comparison needs UDPipe 1 beside sigmastar: pip install ufal.udpipe")

TOKENIZER = (
    "dimension=64;epochs={epochs};segment_size=200;initialization_range=0.2;batch_size=50;"
    "learning_rate=0.01;learning_rate_final=0.001;dropout=0.1;early_stopping=1"
)
TAGGER = (
    "models=2;iterations_1={n};iterations_2={n};templates_1=tagger;"
    "guesser_suffix_rules_1=12;guesser_enrich_dictionary_1=6;"
    "guesser_prefixes_max_1=0;use_lemma_1=1;use_xpostag_1=1;use_feats_1=1;provide_lemma_1=0;"
    "provide_xpostag_1=1;provide_feats_1=1;prune_features_1=0;templates_2=lemmatizer;"
    "guesser_suffix_rules_2=6;guesser_enrich_dictionary_2=6;guesser_prefixes_max_2=4;"
    "use_lemma_2=1;use_xpostag_2=0;use_feats_2=0;provide_lemma_2=1;provide_xpostag_2=0;"
    "provide_feats_2=0;prune_features_2=0"
)


def part_text(directory, part):
    """Return a part of the treebank as it stands in its file."""
    found = sorted(Path(directory).glob(f"*-{part}.conllu*"))
    if len(found) != 1:
        sys.exit(f"{directory} must have one file that ends in -{part}.conllu or .conllu.gz")
    with Source(str(found[0])) as source:
        return found[0], b"".join(source.chunks()).decode()


def sentences(conllu):
    """Read CoNLL-U as UDPipe does."""
    reader = udpipe.InputFormat.newInputFormat("conllu")
    reader.setText(conllu)
    found, error = udpipe.Sentences(), udpipe.ProcessingError()
    while reader.nextSentence(sentence := udpipe.Sentence(), error):
        found.append(sentence)
    if error.occurred():
        sys.exit(error.message)
    return found


def train_udpipe(directory, path, epochs, iterations):
    """Train UDPipe and save its model."""
    train, dev = (sentences(part_text(directory, part)[1]) for part in ("train", "dev"))
    error = udpipe.ProcessingError()
    began = time.perf_counter()
    tokenizer = TOKENIZER.format(epochs=epochs)
    tagger = TAGGER.format(n=iterations)
    model = udpipe.Trainer.train("morphodita_parsito", train, dev, tokenizer, tagger, "none", error)
    if error.occurred():
        sys.exit(error.message)
    Path(path).write_bytes(model)
    print(f"UDPipe trained in {time.perf_counter() - began:.0f} s", flush=True)


def read_conllu(text):
    """Read CoNLL-U that is no file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.conllu"
        path.write_text(text, encoding="utf-8")
        return ss.read_treebank(path)


def udpipe_tagger(path):
    """Return a function from raw text to CoNLL-U."""
    model = udpipe.Model.load(str(path))
    if model is None:
        sys.exit(f"{path} is no model of UDPipe")
    pipeline = udpipe.Pipeline(
        model, "tokenize", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.NONE, "conllu"
    )
    error = udpipe.ProcessingError()

    def tag(text):
        found = pipeline.process(text, error)
        if error.occurred():
            sys.exit(error.message)
        return found

    tag.keeps = pipeline, model  # the library does not keep them alive itself
    return tag


def compare(gold, taggers):
    """Print the scores of each tagger, and how many words it tags in a second."""
    names = ("tokens", "sentences", "words", "upos", "xpos", "lemmas")
    print(f"{'':22}" + "".join(f"{name:>11}" for name in names) + f"{'words/s':>12}")
    for title, tag in taggers.items():
        found = read_conllu(tag(gold.text))
        scores = text_scores(gold, found)
        n_words = sum(map(len, found.words()))
        rate = n_words / best_of(partial(tag, gold.text), clock=time.process_time)
        cells = "".join(f"{100 * scores[name]:11.2f}" for name in names)
        print(f"{title:22}{cells}{rate:12,.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--treebank", required=True, help="directory with *-train.conllu(.gz), ...")
    parser.add_argument("--model", default="udpipe.model", help="UDPipe's model; made if missing")
    parser.add_argument("--epochs", type=int, default=15, help="of UDPipe's tokenizer")
    parser.add_argument("--iterations", type=int, default=20, help="of UDPipe's tagger")
    parser.add_argument("--pipeline", nargs="+", default=[], help="ours; learned if missing")
    parser.add_argument("--part", default="dev", help="what is tagged: dev or test")
    arguments = parser.parse_args()
    if not Path(arguments.model).exists():
        train_udpipe(arguments.treebank, arguments.model, arguments.epochs, arguments.iterations)
    ours = {Path(path).stem: ss.load(path) for path in arguments.pipeline}
    if not ours:
        train = ss.read_treebank(part_text(arguments.treebank, "train")[0])
        ours["sigmastar"] = ss.learn_pipeline(train)
    taggers = {"UDPipe 1": udpipe_tagger(arguments.model)}
    for name, nlp in ours.items():
        taggers[name] = lambda text, nlp=nlp: nlp(text).to_conllu()
    compare(ss.read_treebank(part_text(arguments.treebank, arguments.part)[0]), taggers)


if __name__ == "__main__":
    main()
