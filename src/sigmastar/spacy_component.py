"""A pipeline as a component of spaCy: tags, lemmas and sentences of documents that it has cut.

spaCy finds the factory ``sigmastar`` by its entry point, and ``nlp.add_pipe("sigmastar",
config={"model": "en.sigma"})`` adds what the file holds. The tokens are spaCy's; sentences are
those that the document has already, or else those of the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from spacy.language import Language

from sigmastar.corpus.annotated import AnnotatedText, Token, Word
from sigmastar.loading import load
from sigmastar.tagging.taggers.pipeline import Pipeline
from sigmastar.tagging.taggers.tokenizer import Tokenizer

__all__ = ["SpacyComponent", "make_component"]

# What spaCy has a number for; other tags stay out of pos_.
_UPOS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)


class SpacyComponent:
    """Sets ``tag_``, ``pos_``, ``lemma_`` and the beginnings of sentences of a ``Doc``.

    Parameters
    ----------
    pipeline : Pipeline
        What knows of tags and lemmas.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    def __call__(self, doc: Any) -> Any:
        """Annotate a document in place and return it."""
        sentences = list(self._sentences(doc))
        cut = [[Token(t.idx, t.idx + len(t), (Word(t.text),)) for t in s] for s in sentences]
        found = self.pipeline.annotate(AnnotatedText(doc.text, cut))
        has_lemmas = self.pipeline.lemmatizer is not None
        for tokens, words in zip(sentences, found.words(), strict=True):
            for token, word in zip(tokens, words, strict=True):
                token.tag_ = word.upos if word.xpos == "_" else word.xpos
                if word.upos in _UPOS:
                    token.pos_ = word.upos
                if has_lemmas:
                    token.lemma_ = word.lemma
        return doc

    def _sentences(self, doc: Any) -> Iterator[list[Any]]:
        """Give the tokens of each sentence, those that are blanks left out."""
        if len(doc) and not doc.has_annotation("SENT_START"):
            _, ends, last = self.pipeline.tokenizer.boundaries(doc.text)
            number = np.searchsorted(ends[last], [token.idx for token in doc], side="right")
            starts = np.diff(number, prepend=-1) > 0
            for token, is_start in zip(doc, starts.tolist(), strict=True):
                token.is_sent_start = is_start
        for sentence in doc.sents:
            tokens = [token for token in sentence if not token.is_space]
            if tokens:
                yield tokens


@Language.factory("sigmastar", assigns=["token.tag", "token.pos", "token.lemma"])  # type: ignore[untyped-decorator]
def make_component(nlp: Language, name: str, model: str) -> SpacyComponent:
    """Load a pipeline, or a tagger alone, as a component."""
    loaded: Any = load(model)
    if not isinstance(loaded, Pipeline):
        column = "upos" if set(loaded.tags_) <= _UPOS else "xpos"
        loaded = Pipeline(Tokenizer.default(), {column: loaded})
    return SpacyComponent(loaded)
