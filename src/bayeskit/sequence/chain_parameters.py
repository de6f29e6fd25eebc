"""The parameters of hidden Markov models, of one chain or of one chain per class."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from bayeskit.counts.memory import Memory
from bayeskit.defaults import BINS, MAX_MEMORY, SMOOTHING, UNSEEN
from bayeskit.estimate.gaussian import VARIANCE_PRIOR
from bayeskit.estimate.smoothing import SymmetricSmoothing
from bayeskit.kinds import number_words
from bayeskit.learn.column_kinds import Kinds
from bayeskit.learn.model import SavedModel
from bayeskit.learn.parameters import a_smoothing, an_amount_of_memory, at_least, one_of


def _is_number_of_states(value: Any) -> bool:
    return (isinstance(value, str) and value == "auto") or at_least(1, whole=True)[1](value)


@dataclass(eq=False, repr=False)
class ChainParameters(SavedModel):
    """A model with these parameters; :class:`bayeskit.HiddenMarkov` documents them."""

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "n_states": ("'auto' or a whole number of at least 1", _is_number_of_states),
        "covariance": one_of("diagonal", "full"),
        "smoothing": a_smoothing,
        "bins": at_least(1, whole=True),
        "variance": one_of("posterior", "ml", "unbiased"),
        "variance_prior": at_least(0),
        "unseen": one_of("ignore", "error", "smooth"),
        "max_states": at_least(1, whole=True),
        "n_init": at_least(1, whole=True),
        "tol": at_least(0),
        "max_iter": at_least(1, whole=True),
        "max_memory": an_amount_of_memory,
        "numeric": ("the word of a numeric kind", lambda word: isinstance(word, str) and word in number_words()),
    }

    n_states: int | str = "auto"
    _: KW_ONLY
    transitions: Any = "any"
    start: Any = None
    covariance: Literal["diagonal", "full"] = "diagonal"
    smoothing: float | SymmetricSmoothing = SMOOTHING
    kinds: Kinds = None
    numeric: str = "gaussian"
    bins: int = BINS
    variance: Literal["posterior", "ml", "unbiased"] = "posterior"
    variance_prior: float = VARIANCE_PRIOR
    unseen: Literal["ignore", "error", "smooth"] = UNSEEN
    step: Any = None
    max_states: int = 10
    n_init: int = 5
    tol: float = 1e-6
    max_iter: int = 500
    max_memory: Memory = MAX_MEMORY
    random_state: Any = 0
