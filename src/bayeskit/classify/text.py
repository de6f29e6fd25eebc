"""Text classification: raw strings in, classes out."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit._kernels import Score
from bayeskit.classify.leave_one_out import LeavesOneOut, possible
from bayeskit.classify.posteriors import Posteriors
from bayeskit.classify.text_beliefs import TextBeliefs
from bayeskit.classify.text_questions import TextQuestions
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.memory import read_memory, refuse_too_many_words
from bayeskit.counts.tokens import FrozenIdf, TokenCounts, Transform
from bayeskit.decide.posterior import log_posterior as normalized
from bayeskit.defaults import FREQUENCY_PRIOR, MAX_MEMORY, SMOOTHING
from bayeskit.errors import BayeskitError, TableError
from bayeskit.estimate import tokens as estimate
from bayeskit.estimate.class_weight import class_factors
from bayeskit.estimate.event_models import Bernoulli, Complement, EventModel, FeatureRows, FeatureSums, Multinomial
from bayeskit.estimate.prior import class_prior, log_prior_left_out
from bayeskit.estimate.smoothing import SymmetricSmoothing, as_smoothing
from bayeskit.estimate.text_temperature import FEWEST_DOCUMENTS, fit_powers, powers
from bayeskit.estimate.word_table import word_sums
from bayeskit.learn.labelled_texts import LabelledTexts, TextBatches
from bayeskit.learn.model import accuracy
from bayeskit.learn.naive_beliefs import log_penalty_of_classes
from bayeskit.learn.parameters import LARGEST_PSEUDO_COUNT, a_class_weight, at_least, one_of
from bayeskit.learn.plan import Part, Pass, Plan, counting
from bayeskit.table.corpus_files import TextSource
from bayeskit.table.tokenizer import FORMS, IDEOGRAPHS, UNITS, Tokenizer, read_documents

# Classes times words (or documents) of which tables are made to leave documents out.
MOST_LEFT_OUT = 1 << 25


@dataclass(eq=False, repr=False)
class TextClassifier(LeavesOneOut, Posteriors, TextQuestions):
    r"""Naive Bayes for text: strings in, classes out.

    The multinomial model treats a document as a sequence of independent words (Learn_Naive_Bayes_Text of Mitchell,
    table 6.2, for λ = 1); tokens outside the vocabulary V are skipped:

    .. math:: P(c \mid d) \propto P(c) \prod_{i} P(w_i \mid c), \quad P(w \mid c) = \frac{n_{wc} + λ}{n_c + λ |V|}

    The Bernoulli model uses only whether each word occurs (McCallum and Nigam, 1998); the complement model weighs
    a word by how rare it is in all the other classes (Rennie et al., 2003).

    Texts go straight into counts, which add and subtract: ``partial_fit``, ``merge`` and ``unlearn`` are exact. Counts
    keep all words; words are pruned when they become probabilities.

    Parameters
    ----------
    model : {"multinomial", "bernoulli", "complement"}, default "multinomial"
        The event model.
    smoothing : float, Lidstone or MEstimate, default 1.0
        λ, added to each count. ``MEstimate(m)`` adds m tokens to each class, distributed evenly over the vocabulary;
        in the Bernoulli model m documents, half of them with the word.
    prior : {"data", "smoothed", "uniform"}, array or dict, default "data"
        P(c). As in scikit-learn, the complement model does not use it.
    class_weight : dict or "balanced", optional
        The weight of each class. Counts stay unweighted; the weights apply when they become probabilities. Which words
        are kept does not depend on them.
    tokens, ngram_range, lowercase, punctuation, ideographs, unicode_form
        How texts become tokens, as in `Tokenizer`: by default the words of Unicode, case folded, Chinese in overlapping
        pairs of characters.
    hashing : int, optional
        Hash tokens into this many buckets instead of keeping a vocabulary.
    hash_seed : int, default 0
        Seed of the hash. Hashed models merge with others of the same size, seed and tokenizer only.
    drop_frequent : int, default 0
        The number of most frequent words to leave out.
    min_count : float, default 1
        Leave out words that were seen fewer times; after ``tf`` or ``length``, in fewer documents.
    k_best : int, optional
        The number of remaining words to keep: those with the highest mutual information of class and occurrence in a
        document.
    tf, idf, length : bool, default False
        The transforms of Rennie et al. (2003) for training documents: log(1 + d), times log(N / n_w), over the length
        of the vector. ``idf`` together with ``length`` needs all documents: the first ``partial_fit`` freezes it.
    norm : bool, default False
        Divide the weights of each class by the sum of their absolute values (weight-normalised complement naive Bayes).
    calibrate : bool, default True
        Whether P(c | d) is as sure as documents left out allow: :math:`P(d, c)^{g(L)}`, normalised, where g falls with
        the length of the document. It is fitted to at most 500 documents, which the counts keep as bags of words;
        classes stay those of the textbook, whose P is that of False. With ``idf``, with fewer than 50 documents, or
        where classes × words are more than 33 million, nothing is fitted and g is 1.

    Attributes
    ----------
    counts_ : TokenCounts
        The sufficient statistics; ``a.counts_ + b.counts_`` is what one fit on both corpora counts.
    classes_ : array of shape (n_classes,)
        The class labels.
    class_count_, class_prior_ : arrays of shape (n_classes,)
        Documents of each class, and P(c).
    vocabulary_ : dict of str to int
        The words in use, with their columns in ``feature_log_prob_``.
    feature_log_prob_ : array of shape (n_classes, n_words)
        The weight of each word in the score of each class.

    Examples
    --------
    >>> from bayeskit import TextClassifier
    >>> model = TextClassifier().fit(["cheap pills", "lunch at noon", "cheap cheap watches"], ["spam", "ham", "spam"])
    >>> model.predict(["cheap lunch pills"])
    array(['spam'], dtype=object)
    >>> model.predict_proba(["pills"]).round(4)
    array([[0.234, 0.766]])
    """

    _statistic = TokenCounts
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "model": one_of("multinomial", "bernoulli", "complement"),
        "smoothing": (
            f"a number from 0 to {LARGEST_PSEUDO_COUNT:g} (λ), or a smoothing such as MEstimate(2)",
            lambda value: at_least(0, most=LARGEST_PSEUDO_COUNT)[1](
                value.pseudo_count(1) if isinstance(value, SymmetricSmoothing) else value
            ),
        ),
        "class_weight": a_class_weight,
        "prior": (
            "'data', 'smoothed', 'uniform', an array of probabilities or a dict of class to probability",
            lambda prior: not isinstance(prior, str) or prior in ("data", "smoothed", "uniform"),
        ),
        "tokens": (
            f"one of {', '.join(map(repr, UNITS))}, or a function from a text to tokens",
            lambda tokens: tokens in UNITS if isinstance(tokens, str) else callable(tokens),
        ),
        "ngram_range": (
            "two whole numbers 1 ≤ least ≤ largest",
            lambda n: (
                isinstance(n, tuple | list) and len(n) == 2 and all(type(k) is int for k in n) and 1 <= n[0] <= n[1]
            ),
        ),
        "ideographs": one_of(*IDEOGRAPHS),
        "unicode_form": (f"one of {', '.join(map(repr, FORMS))}, or None", lambda form: form is None or form in FORMS),
        "hashing": (
            "a whole number from 1 to 2**31, or None",
            lambda n: n is None or (isinstance(n, int | np.integer) and not isinstance(n, bool) and 1 <= n <= 2**31),
        ),
        "hash_seed": at_least(0, whole=True),
        "drop_frequent": at_least(0, whole=True),
        "min_count": at_least(0),
        "k_best": (
            "a whole number of at least 1, or None",
            lambda n: n is None or (isinstance(n, int | np.integer) and not isinstance(n, bool) and n >= 1),
        ),
    }

    _: KW_ONLY
    model: str = "multinomial"
    smoothing: float | SymmetricSmoothing = SMOOTHING
    prior: Any = FREQUENCY_PRIOR
    class_weight: Any = None
    tokens: Any = "words"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    punctuation: bool = False
    ideographs: str = "bigrams"
    unicode_form: str | None = None
    hashing: int | None = None
    hash_seed: int = 0
    drop_frequent: int = 0
    min_count: float = 1
    k_best: int | None = None
    tf: bool = False
    idf: bool = False
    length: bool = False
    norm: bool = False
    calibrate: bool = True

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn from texts and their labels, forgetting what was learned before.

        Parameters
        ----------
        X : list of str, array or column of texts, or TextSource
            The documents. A `TextSource`, which `read_texts` opens, has its own labels and is read in batches.
            With ``target``, a table of two columns: the texts and the labels; also one of any size, which
            :func:`bayeskit.scan` describes.
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
        self._refuse_odd_choices()
        return LabelledTexts(X, y, sample_weight, target, type(self).__name__)

    def _count(self, rows: Any, schema: Any, before: Any = None) -> TokenCounts:
        tokenizer = self._tokenizer()
        transform = Transform(bool(self.tf), bool(self.length))
        if self.idf and self.length:
            # The lengths of vectors depend on the idf, which depends on all documents: they are gone through twice.
            frozen = before.transform.frozen if before is not None else None
            transform = Transform(transform.tf, True, frozen or _frozen(rows, tokenizer))
        sampled = bool(self.calibrate)
        counts = TokenCounts.of_batches(rows, tokenizer, transform, weighted=rows.weighted, sampled=sampled)
        if not counts.n_words and before is None:
            raise _no_token(counts)
        return counts

    def _passes(self, plan: Plan) -> Generator[Pass, Any, TokenCounts]:
        self._refuse_odd_choices()
        if len(plan.schema) != 1:
            raise TableError(
                f"a text classifier reads one column of texts besides the target; got "
                f"{', '.join(map(repr, plan.schema.names))}. Choose it: scan(…, columns=[text, target])."
            )
        counts: TokenCounts = (yield counting(plan)).counts
        if not counts.n_words:
            raise _no_token(counts)
        if self.idf and self.length:  # their transform needs the frequencies in all documents first
            counts = (yield counting(replace(plan, families=_frozen_of(counts)))).counts
        return counts

    def _count_batches(self, plan: Plan, readers: Any) -> Part:
        frozen = plan.families if isinstance(plan.families, FrozenIdf) else None
        plain = bool(self.idf and self.length) and frozen is None
        transform = None if plain else Transform(bool(self.tf), bool(self.length), frozen)
        texts = TextBatches(readers, plan.schema.names[0], plan.target, plan.weight)
        how = {"weighted": plan.weight is not None, "sampled": bool(self.calibrate)}
        counts = TokenCounts.of_batches(texts, self._tokenizer(), transform, **how)
        return Part(counts if texts.n_rows else None)

    def _refuse_odd_choices(self) -> None:
        if self.model == "bernoulli" and (self.tf or self.idf or self.length):
            raise BayeskitError(
                "tf, idf and length change how often a word counts; model='bernoulli' uses only whether it occurs."
            )
        if self.norm and self.model != "complement":
            raise BayeskitError(f"norm=True is for model='complement'; got model={self.model!r}.")

    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(
            self.tokens,
            (int(self.ngram_range[0]), int(self.ngram_range[1])),
            bool(self.lowercase),
            bool(self.punctuation),
            self.ideographs,
            self.unicode_form,
            None if self.hashing is None else int(self.hashing),
            int(self.hash_seed),
        )

    def _check(self, counts: TokenCounts) -> None:
        n_words = len(estimate.kept_words(counts, self.drop_frequent, self.min_count, None))
        refuse_too_many_words(min(n_words, self.k_best or n_words), len(counts.classes), read_memory(MAX_MEMORY))
        factor = class_factors(counts.n_class, counts.classes, self.class_weight)
        class_prior(counts.n_class * factor, self.prior, self.smoothing, counts.classes)

    def _believe(self, counts: TokenCounts) -> TextBeliefs:
        words = self._kept_words(counts)
        factor = class_factors(counts.n_class, counts.classes, self.class_weight)
        weighted = counts if self.class_weight is None else counts.weighted(factor)
        with np.errstate(divide="ignore"):
            log_prior = np.log(class_prior(weighted.n_class, self.prior, self.smoothing, counts.classes))
        cells, λ = self._cells(weighted, words), self._pseudo_count(counts, words)
        if self.model == "bernoulli":
            return TextBeliefs(counts, estimate.bernoulli(cells, λ, log_prior, weighted.n_class), log_prior)
        hashed = self.hashing is not None
        if self.model == "complement":
            table = estimate.complement(cells, λ, bool(self.norm), log_prior, hashed)
        else:
            table = estimate.multinomial(cells, λ, log_prior, hashed)
        return TextBeliefs(counts, table, log_prior)

    def _log_penalty(self, counts: TokenCounts, beliefs: TextBeliefs) -> float:
        if self.model == "complement":
            raise BayeskitError(
                "the complement model has no likelihood that EM could maximize; use model='multinomial' or 'bernoulli'."
            )
        table, pseudo = beliefs.table, self._pseudo_count(counts, beliefs.table.words)
        logs = float(table.dense().sum()) if pseudo else 0.0  # of each word; λ is added to each
        if table.binary:  # log p / (1 − p), and the bias has log (1 − p)
            logs += 2.0 * float((table.bias - beliefs.log_prior).sum()) if pseudo else 0.0
        elif table.others is not None and pseudo:  # the empty buckets
            logs += ((self.hashing or 0) - len(table.words)) * float(table.others.sum())
        return pseudo * logs + log_penalty_of_classes(beliefs.log_prior, self.prior, self.smoothing)

    def _kept_words(self, counts: TokenCounts) -> NDArray[np.int64]:
        return estimate.kept_words(counts, self.drop_frequent, self.min_count, self.k_best)

    def _pseudo_count(self, counts: TokenCounts, words: NDArray[np.int64]) -> float:
        """Return what is added to each count: of a word among all words, or of its presence."""
        n_words = self.hashing or len(words)
        return as_smoothing(self.smoothing).pseudo_count(2 if self.model == "bernoulli" else n_words)

    def _cells(self, counts: TokenCounts, words: NDArray[np.int64]) -> estimate.TokenCells:
        if self.model == "bernoulli":
            return estimate.cells_of(counts, words, counts.n_document)
        n_token = counts.n_token
        if self.idf and not self.length:
            n_token = n_token * np.repeat(estimate.inverse_frequency(counts), np.diff(counts.indptr))
        return estimate.cells_of(counts, words, n_token)

    @classmethod
    def _parameters_of(cls, data: dict[str, Any]) -> dict[str, Any]:
        parameters = super()._parameters_of(data)
        return {**parameters, "ngram_range": tuple(parameters["ngram_range"])}  # JSON knows lists only

    def _frozen_by(self, schema: Any) -> frozenset[str]:
        return frozenset({"the inverse document frequency"} if self.idf and self.length else ())

    # -- predicting -------------------------------------------------------------------------------------------------

    def _score(self, X: Any, wanted: Score) -> NDArray[Any]:
        beliefs: TextBeliefs = self._beliefs
        if isinstance(X, TextSource):
            return np.concatenate([self._scored(beliefs, texts, wanted) for texts, _ in X])
        texts = read_documents(X)
        if not texts:
            raise TableError("Found array with 0 sample(s) while a minimum of 1 is required: there is no document.")
        return self._scored(beliefs, texts, wanted)

    def _scored(self, beliefs: TextBeliefs, texts: list[str], wanted: Score) -> NDArray[Any]:
        scores = beliefs.score(texts, wanted)
        if wanted not in (Score.POSTERIOR, Score.LOG_POSTERIOR) or self._power_weights is None:
            return scores
        log_posterior = scores if wanted == Score.LOG_POSTERIOR else beliefs.score(texts, Score.LOG_POSTERIOR)
        softer = normalized(self._powers(texts)[:, None] * log_posterior)
        return softer if wanted == Score.LOG_POSTERIOR else np.exp(softer)

    def _powers(self, texts: list[str]) -> NDArray[np.float64]:
        weight = self._power_weights
        return np.ones(len(texts)) if weight is None else powers(weight, self._beliefs.lengths(texts))

    @property
    def _power_weights(self) -> NDArray[np.float64] | None:
        """What g(L) was fitted to, when it is first asked for; None where nothing is."""
        settings: Any = self._state.settings
        if not settings.calibrate:
            return None
        made: dict[str, NDArray[np.float64] | None] = self._beliefs.made
        if "powers" not in made:
            made["powers"] = settings._fit_powers(self._state.counts, self._beliefs)
        return made["powers"]

    def _fit_powers(self, counts: TokenCounts, beliefs: TextBeliefs) -> NDArray[np.float64] | None:
        sample, words = counts.sample, beliefs.table.words
        if sample is None or self.idf or (self.hashing is not None and (self.tf or self.length)):
            return None
        if len(sample.y) < FEWEST_DOCUMENTS or len(counts.classes) * max(len(words), len(sample.y)) > MOST_LEFT_OUT:
            return None
        left = LeftOut(sample.y, sample.weight)
        sums = word_sums(self._cells(counts, words), counts.n_class, self._pseudo_count(counts, words))
        log_prior = log_prior_left_out(counts, self.prior, self.smoothing, left)
        bags = [dict(bag) for bag in sample.bags]
        rows = self._rows_of(beliefs, bags, counts.transform, left, log_prior)
        log_joint = possible(self._event.log_joint_left_out(sums, rows), log_prior)
        length = np.bincount(rows.row, rows.value, len(left)).astype(np.float64)
        if rows.others is not None:
            length += rows.others
        return fit_powers(log_joint, sample.y, length, sample.weight)

    def _class_scores(self, texts: Any) -> NDArray[np.float64]:
        model = self._now()
        return model._powers(read_documents(texts))[:, None] * model.predict_joint_log_proba(texts)

    def _sureness(self, text: str) -> float:
        return float(self._powers([text])[0])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy; a `TextSource` has its own labels."""
        if isinstance(X, TextSource) and y is None:
            right = [np.asarray(self.predict(texts) == np.asarray(labels, dtype=object)) for texts, labels in X]
            return float(np.concatenate(right).mean())
        return accuracy(self._now(), X, y, sample_weight)

    # -- leaving documents out --------------------------------------------------------------------------------------

    @property
    def _smoothed_prior(self) -> tuple[Any, Any]:
        return self.prior, self.smoothing

    @property
    def _event(self) -> EventModel:
        events = {"multinomial": Multinomial(), "bernoulli": Bernoulli(), "complement": Complement(bool(self.norm))}
        return events[self.model]

    def _refuse_what_cannot_be_subtracted(self) -> None:
        super()._refuse_what_cannot_be_subtracted()
        fitted = self._believed_with
        if fitted["k_best"] is not None:
            raise BayeskitError(
                f"the {fitted['k_best']} words of k_best={fitted['k_best']} were chosen with each document's label in "
                "sight, so that leaving it out of the counts alone would be optimistic; fit without k_best, or use "
                "cross-validation, which chooses the words in each fold."
            )
        if fitted["idf"]:
            raise BayeskitError(
                "with idf each document changes the weight of every word, so that none can be subtracted; fit without "
                "idf, or use cross-validation."
            )
        if fitted["hashing"] is not None and (fitted["tf"] or fitted["length"]):
            raise BayeskitError(
                "tf and length are computed over the words of a document, which hashing mixes; fit without hashing, or "
                "use cross-validation."
            )

    def _parts_left_out(self, X: Any, y: Any, sample_weight: Any, target: str | None) -> Iterator[tuple[Any, ...]]:
        settings: Any = self._state.settings
        counts, words = self.counts_, self._beliefs.table.words
        sums = word_sums(settings._cells(counts, words), counts.n_class, settings._pseudo_count(counts, words))
        for texts, codes, classes, weight in LabelledTexts(X, y, sample_weight, target, type(self).__name__):
            yield (texts, sums), classes[codes], weight, len(texts)

    def _log_joint_left_out(
        self, rows: tuple[list[str], FeatureSums], left: LeftOut, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        settings: Any = self._state.settings
        beliefs, (texts, sums) = self._beliefs, rows
        cells = settings._rows_of(beliefs, beliefs.bags(texts), self.counts_.transform, left, log_prior)
        log_joint: NDArray[np.float64] = settings._event.log_joint_left_out(sums, cells)
        return log_joint

    def _log_posterior_left_out(self, rows: tuple[list[str], FeatureSums], left: LeftOut) -> NDArray[np.float64]:
        log_posterior = super()._log_posterior_left_out(rows, left)
        return normalized(self._powers(rows[0])[:, None] * log_posterior)

    def _rows_of(
        self, beliefs: TextBeliefs, bags: Any, transform: Transform, left: LeftOut, log_prior: NDArray[np.float64]
    ) -> FeatureRows:
        """Return documents, as words with their counts, as rows that the event model leaves out."""
        binary = self.model == "bernoulli"
        others = self.hashing is not None and not binary
        how = Transform() if binary else transform
        return beliefs.rows_left_out(bags, how, left, log_prior, binary=binary, others=others)

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def class_count_(self) -> NDArray[Any]:
        """Documents of each class, or their weight."""
        return np.asarray(self.counts_.n_class)

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c)."""
        return np.asarray(np.exp(self._beliefs.log_prior))

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The words in use, with their columns in ``feature_log_prob_``."""
        words = self.counts_.words
        return {words[word]: k for k, word in enumerate(self._beliefs.table.words.tolist())}

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """The weight of each word in the score of each class, of shape (n_classes, n_words)."""
        return self._beliefs.table.dense().T  # type: ignore[no-any-return]

    @property
    def n_features_in_(self) -> int:
        """One column of text."""
        raise AttributeError("a text classifier takes texts, not a table of features.")

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True


def _frozen(batches: LabelledTexts, tokenizer: Tokenizer) -> FrozenIdf:
    return _frozen_of(
        TokenCounts.of_batches(((texts, y, classes, None) for texts, y, classes, _ in batches), tokenizer)
    )


def _frozen_of(plain: TokenCounts) -> FrozenIdf:
    n = float(plain.n_class.sum())
    return FrozenIdf(plain.bytes, plain.offsets, estimate.inverse_frequency(plain), float(np.log(n)))


def _no_token(counts: TokenCounts) -> TableError:
    return TableError(
        f"none of the {int(counts.n_class.sum())} documents has a token; nothing but the prior can be "
        "learned. Look at the tokens with Tokenizer().split(text)."
    )
