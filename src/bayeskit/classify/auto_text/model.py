"""AutoText: the text classifier that needs no choice."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit.classify.auto_text.beliefs import AutoTextBeliefs, Vocabulary
from bayeskit.classify.auto_text.counts import AutoTextCounts
from bayeskit.classify.auto_text.members import AT_ONCE, N_MEMBERS
from bayeskit.classify.auto_text.plan import learn_plan
from bayeskit.classify.text_questions import TextQuestions
from bayeskit.counts.memory import read_memory, readable
from bayeskit.counts.tokens import TokenCounts
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import BayeskitError, TableError, TooLargeError, warn_caller
from bayeskit.explain.model_summary import ModelSummary
from bayeskit.explain.text_explanation import TextExplanation
from bayeskit.learn.labelled_texts import LabelledTexts
from bayeskit.learn.model import accuracy
from bayeskit.learn.parameters import one_of
from bayeskit.learn.plan import Pass, Plan
from bayeskit.progress import Progress
from bayeskit.table.corpus_files import TextSource
from bayeskit.table.scan.pieces import Scan
from bayeskit.table.tokenizer import Tokenizer, read_documents

# Documents on which weights and correction are chosen; of more, all are counted and as many are looked at.
MOST_DOCUMENTS = 100_000


class AutoText(TextQuestions):
    r"""The automatic text classifier: naive Bayes over words and pairs of words, pooled on documents left out.

    Multinomial and complement naive Bayes score which words, and which pairs of neighbouring words, a document has
    (of Chinese and other scripts without spaces: characters and pairs of characters). Each training document is scored
    by the counts of all the others. A pool of these scores s_m, divided by √L and by L, the length of the document, is
    fitted there, so that a long document is not too sure of its class; one logistic correction with the pool as its
    offset learns what naive Bayes leaves:

    .. math:: f_c(d) = b_c + \sum_m \Bigl( \frac{v_m}{\sqrt L} + \frac{w_m}{L} \Bigr) s_{mc}(d) + x(d) \cdot u_c,
              \qquad P(c \mid d) = (1 - ε) \frac{e^{T f_c}}{\sum_{c'} e^{T f_{c'}}} + ε P(c)

    x(d) has (1 + log tf) √idf of each word, and length 1; u has a normal prior. Its variance, T and ε are judged on one
    half of the documents by what was learned from the other half.

    Parameters
    ----------
    correction : bool, default True
        Whether the correction is learned. Without it everything but a few weights is a count, so that ``partial_fit``
        and ``unlearn`` change all that the words say.
    tokens : {"words", "characters"}, default "words"
        What a text is made of, as in `Tokenizer`.

    Attributes
    ----------
    counts_ : AutoTextCounts
        The token counts, and what was chosen on the documents of the first fit.
    classes_ : array of shape (n_classes,)
        The class labels.
    class_count_ : array of shape (n_classes,)
        Documents of each class.
    member_weight_ : dict of str to float
        The weight of each score in the pool.
    left_out_loss_ : dict of str to float
        The mean log-loss of the class shares, of the pool, and of the corrected pool, on documents left out.

    Notes
    -----
    ``partial_fit``, ``merge`` and ``unlearn`` change the counts, exactly; the weights of the pool and the correction
    stay those of the first call. Copies of one fitted model merge. The halves are chosen by the content of the
    documents, so that their order does not matter; of more than 100,000 documents the first so many choose the weights.

    References
    ----------
    Rennie, Shih, Teevan and Karger (2003), Tackling the poor assumptions of naive Bayes text classifiers.
    Wang and Manning (2012), Baselines and bigrams: simple, good sentiment and topic classification.

    Examples
    --------
    >>> from bayeskit import AutoText
    >>> texts = [
    ...     "cheap pills",
    ...     "lunch at noon",
    ...     "cheap watches",
    ...     "lunch was good",
    ...     "pills and watches",
    ...     "see you at noon",
    ... ]
    >>> model = AutoText().fit(texts, ["spam", "ham", "spam", "ham", "spam", "ham"])
    >>> model.predict(["cheap cheap pills", "see you at lunch"])
    array(['spam', 'ham'], dtype=object)
    """

    _role = "classifier"
    _statistic = AutoTextCounts
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "correction": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
        "tokens": one_of("words", "characters"),
    }

    def __init__(self, *, correction: bool = True, tokens: str = "words") -> None:
        self.correction = correction
        self.tokens = tokens

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn from texts and their labels, forgetting what was learned before.

        Parameters
        ----------
        X : list of str, array or column of texts, or TextSource
            The documents. A `TextSource`, which `read_texts` opens, has its own labels and is read in batches, twice.
            With ``target``, a table of two columns: the texts and the labels.
        y : array of shape (n_documents,), optional
            The labels.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.
        target : str, optional
            The column of a table that holds the labels.

        Returns
        -------
        self
        """
        return super().fit(X, y, sample_weight, target=target)

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, target: str | None, schema: Any) -> Any:
        return LabelledTexts(X, y, sample_weight, target, type(self).__name__)

    def _count(self, rows: Any, schema: Any, before: AutoTextCounts | None = None) -> AutoTextCounts:
        tokens = TokenCounts.of_batches(rows, self._tokenizer(), weighted=rows.weighted)
        if before is not None:
            return AutoTextCounts(tokens, before.plan)
        if not tokens.n_words:
            raise TableError(
                f"none of the {int(tokens.n_class.sum())} documents has a token; nothing but the prior can be "
                "learned. Look at the tokens with Tokenizer().split(text)."
            )
        need = 8.0 * N_MEMBERS * min(float(tokens.n_class.sum()), AT_ONCE) * len(tokens.classes)
        if need > read_memory(MAX_MEMORY):
            raise TooLargeError(
                f"{len(tokens.classes):,} classes: the scores of {AT_ONCE:,} documents alone need {readable(need)}. "
                "Group the labels, or use TextClassifier()."
            )
        texts, y, weight = _first(rows, tokens.classes)
        if len(texts) < tokens.n_class.sum() and not rows.weighted:
            warn_caller(
                f"weights and correction were chosen on {len(texts):,} of {int(tokens.n_class.sum()):,} documents; "
                "all were counted."
            )
        documents = Vocabulary(tokens.tokenizer, tokens.bytes, tokens.offsets).documents(texts)
        return AutoTextCounts(tokens, learn_plan(tokens, documents, texts, y, weight, bool(self.correction)))

    def _passes(self, plan: Plan) -> Generator[Pass, Any, Any]:
        raise _no_scan()

    def plan(self, X: Scan, *, target: str, sample_weight: str | None = None, progress: Progress | None = None) -> Plan:
        """Raise an error: weights and correction are chosen on documents, so there is no plan before a first fit."""
        raise _no_scan()

    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(self.tokens, ngram_range=(1, 2), ideographs="characters")

    def _believe(self, counts: AutoTextCounts) -> AutoTextBeliefs:
        return AutoTextBeliefs(counts)

    def _frozen_by(self, schema: Any) -> frozenset[str]:
        return frozenset({"the weight of each score, and the correction,"})

    # -- predicting -------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each document."""
        model = self._now()
        return np.asarray(model.classes_[model.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | d), of shape (n_documents, n_classes)."""
        beliefs: AutoTextBeliefs = self._now()._beliefs
        return np.concatenate([beliefs.posterior(texts) for texts in _documents(X)])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | d), of shape (n_documents, n_classes)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy; a `TextSource` has its own labels."""
        if isinstance(X, TextSource) and y is None:
            right = [np.asarray(self.predict(texts) == np.asarray(labels, dtype=object)) for texts, labels in X]
            return float(np.concatenate(right).mean())
        return accuracy(self._now(), X, y, sample_weight)

    def _class_scores(self, texts: Any) -> NDArray[np.float64]:
        beliefs: AutoTextBeliefs = self._now()._beliefs
        return np.concatenate([beliefs.scores(part) for part in _documents(texts)])

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def class_count_(self) -> NDArray[Any]:
        """Documents of each class, or their weight."""
        return np.asarray(self.counts_.n_class)

    @property
    def member_weight_(self) -> dict[str, float]:
        """The weight of each score in the pool."""
        names = [
            f"{model} of {kind} over {length}"
            for kind in ("words", "pairs")
            for model in ("multinomial", "complement")
            for length in ("√L", "L")
        ]
        return dict(zip(names, self.counts_.plan.member_weight.tolist(), strict=True))

    @property
    def left_out_loss_(self) -> dict[str, float]:
        """The mean log-loss on documents left out."""
        names = ("class shares", "pool", "corrected pool")
        return dict(zip(names, self.counts_.plan.left_out_loss.tolist(), strict=True))

    @property
    def n_features_in_(self) -> int:
        """One column of text."""
        raise AttributeError("a text classifier takes texts, not a table of features.")

    def explain(self, text: str, classes: tuple[Any, Any] | None = None) -> TextExplanation:
        """Explain one text: what each of its words and pairs of words adds to the log-odds of two classes.

        The prior has all that no word says: the biases of the classes, and what doubt takes away.

        Parameters
        ----------
        text : str
            What to explain.
        classes : (a, b), optional
            The classes to compare; by default the most probable one and the runner-up.
        """
        if not isinstance(text, str):
            raise TableError(f"explain takes one text; got {type(text).__name__}.")
        self._refuse_unfitted()
        beliefs: AutoTextBeliefs = self._beliefs
        text = beliefs.counts.tokens.tokenizer.normal(text)
        posterior = beliefs.posterior([text])[0]
        a, b = self._pair(np.log(np.maximum(posterior, 1e-300)), classes)
        words = beliefs.words_of(text, a, b)
        log_odds = float(np.log(posterior[a]) - np.log(posterior[b]))
        names = self.classes_.tolist()
        prior = log_odds - sum(word.weight for word in words)
        return TextExplanation(text, (names[a], names[b]), prior, words, float(posterior[a]))

    def top_words(self, cls: Any, n: int = 20) -> list[tuple[str, float]]:
        """Return the strongest words and pairs for a class: what each adds to its score, less the mean over classes.

        Words of a document of mean length are meant, which at least two documents of the fit had.
        """
        c = self._place(cls)
        beliefs: AutoTextBeliefs = self._beliefs
        tokens = beliefs.counts.tokens
        parts = beliefs.typical()
        lead = parts[:, c] - parts.mean(axis=1)
        lead[np.add.reduceat(tokens.n_document, tokens.indptr[:-1]) < 2] = -np.inf
        order = [k for k in np.argsort(-lead, kind="stable")[:n].tolist() if np.isfinite(lead[k]) and lead[k] > 0]
        return [(tokens.words[k], float(lead[k])) for k in order]

    def summary(self) -> ModelSummary:
        """Return a printable summary: the classes with their documents, and the words that tell most for each."""
        return self._summary_of_words(f"{self.counts_.tokens.n_words:,} words and pairs")

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True


def _documents(X: Any) -> Any:
    if isinstance(X, TextSource):
        return (texts for texts, _ in X)
    texts = read_documents(X)
    if not texts:
        raise TableError("Found array with 0 sample(s) while a minimum of 1 is required: there is no document.")
    return [texts]


def _first(rows: Any, classes: NDArray[Any]) -> tuple[list[str], NDArray[Any], NDArray[np.float64]]:
    """Return up to so many documents with their classes and weights."""
    texts: list[str] = []
    codes, weights = [], []
    for batch, y, names, weight in rows:
        room = MOST_DOCUMENTS - len(texts)
        if room <= 0:
            break
        texts += batch[:room]
        codes.append(np.searchsorted(classes, names)[y[:room]])
        weights.append(np.ones(len(y[:room])) if weight is None else weight[:room])
    return texts, np.concatenate(codes), np.concatenate(weights)


def _no_scan() -> BayeskitError:
    return BayeskitError(
        "AutoText chooses weights on documents, which a scan does not hand out; read the texts with read_texts(…), "
        "which streams them, or count the scan with TextClassifier()."
    )
