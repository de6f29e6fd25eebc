"""The counts of an AutoText, under the plan that it has chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto_text.members import N_MEMBERS
from bayeskit.classify.auto_text.plan import TextPlan, is_pair
from bayeskit.counts.tokens import TokenCounts
from bayeskit.errors import MergeError, ModelFileError
from bayeskit.io.expect import expect_array
from bayeskit.table.schema import Schema

# Fields of a plan that are numbers, in the file as one array.
_NUMBERS = ("temperature", "doubt", "variance")


@dataclass(frozen=True, eq=False)
class AutoTextCounts:
    """Token counts of some documents under a plan. Those of equal plans add and subtract."""

    tokens: TokenCounts
    plan: TextPlan

    @property
    def schema(self) -> Schema:
        """One column of text."""
        return self.tokens.schema

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels, in increasing order."""
        return self.tokens.classes

    @property
    def n_class(self) -> NDArray[Any]:
        """Documents of each class, or their weight."""
        return self.tokens.n_class

    @property
    def n_words(self) -> int:
        """The number of distinct words; pairs of them are not counted."""
        return int(np.count_nonzero(~is_pair(self.tokens)))

    def declare(self, classes: NDArray[Any]) -> AutoTextCounts:
        """Return the counts with declared classes, which may have no document yet."""
        return replace(self, tokens=self.tokens.declare(classes))

    def narrow(self) -> AutoTextCounts:
        """Return the counts without classes that have no document and were not declared."""
        return replace(self, tokens=self.tokens.narrow())

    def __add__(self, other: AutoTextCounts) -> AutoTextCounts:
        self._refuse_other(other)
        return replace(self, tokens=self.tokens + other.tokens)

    def __sub__(self, other: AutoTextCounts) -> AutoTextCounts:
        self._refuse_other(other)
        return replace(self, tokens=self.tokens - other.tokens)

    def _refuse_other(self, other: AutoTextCounts) -> None:
        if self.plan is not other.plan and self.plan.digest != other.plan.digest:
            raise MergeError(
                "the two models chose different weights and corrections; only copies of one fitted AutoText add. "
                "Fit one on all documents, or let copies of it learn by partial_fit and merge these. "
                "The documents of the first fit are in every copy: unlearn them from all copies but one."
            )

    # -- files ------------------------------------------------------------------------------------------------------

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        meta, arrays = self.tokens.to_parts()
        plan = self.plan
        known = set(self.classes.tolist())
        if not set(plan.classes.tolist()) <= known:
            raise ModelFileError("a class of the plan has no document left; fit the model anew before saving it.")
        numbers = {f"plan_{name}": getattr(plan, name) for name in _ARRAYS}
        numbers["plan_numbers"] = np.array([getattr(plan, name) for name in _NUMBERS])
        numbers["plan_classes"] = np.searchsorted(self.classes, plan.classes).astype(np.int64)
        return meta, arrays | numbers

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> AutoTextCounts:
        """Read what :meth:`to_parts` gave; every size is checked."""
        tokens = TokenCounts.from_parts(meta, arrays)
        places = expect_array(arrays, "plan_classes", np.int64, (arrays["plan_classes"].size,))
        k = len(places)
        if k and not (places.min() >= 0 and places.max() < len(tokens.classes) and (np.diff(places) > 0).all()):
            raise ModelFileError("the classes of the plan are not those of the counts.")
        n = arrays["plan_idf"].size
        sizes = {
            "member_weight": (arrays["plan_member_weight"].size,),
            "bias": (k,),
            "idf": (n,),
            "correction": (n, 1 if k == 2 else k),
            "left_out_loss": (3,),
        }
        values: dict[str, Any] = {
            name: expect_array(arrays, f"plan_{name}", np.float64, size) for name, size in sizes.items()
        }
        numbers = expect_array(arrays, "plan_numbers", np.float64, (len(_NUMBERS),))
        if not all(np.isfinite(value).all() for value in (*values.values(), numbers)):
            raise ModelFileError("a weight of the plan is not a finite number.")
        data = expect_array(arrays, "plan_bytes", np.uint8, (arrays["plan_bytes"].size,))
        offsets = expect_array(arrays, "plan_offsets", np.int64, (n + 1,))
        if offsets[0] != 0 or offsets[-1] != len(data) or (np.diff(offsets) < 0).any():
            raise ModelFileError("the offsets of words do not increase from 0 to their end.")
        fields = dict(zip(_NUMBERS, numbers.tolist(), strict=True))
        plan = TextPlan(classes=tokens.classes[places], bytes=data, offsets=offsets, **values, **fields)
        if plan.member_weight.size != N_MEMBERS or not 0 <= plan.doubt <= 1 or (plan.member_weight < 0).any():
            raise ModelFileError("the weights of the plan do not fit.")
        return cls(tokens, plan)


_ARRAYS = ("member_weight", "bias", "bytes", "offsets", "idf", "correction", "left_out_loss")
