"""The counts and the plan of an AutoBayes as the parts of a file, and back; a file may be untrusted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.boosting import BoostPlan
from bayeskit.classify.auto.counts import AutoCounts, PoolPlan
from bayeskit.classify.auto.evidence_networks import DEPTHS, NetworkPlan
from bayeskit.classify.auto.gaussians import GaussianPlan
from bayeskit.classify.auto.levels import OTHER_LEVEL, Levels
from bayeskit.classify.auto.linear import LinearPlan
from bayeskit.classify.auto.rare_values import RareValues
from bayeskit.classify.auto.texts import TOKENS, TextMember
from bayeskit.classify.auto.trees import TreePlan
from bayeskit.counts.class_labels import read_classes
from bayeskit.counts.tokens import TokenCounts
from bayeskit.errors import ModelFileError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.table.schema import Schema

Arrays = dict[str, NDArray[Any]]
# Counts of which fewer than this share are above 0 are written as a list of these. A file that claims more cells than
# the second number is refused: what it unfolds to is bounded.
SPARSE, MOST_UNFOLDED = 0.25, 1 << 28
# The arrays of each part of the plan, by the name of the field.
_OF_POOL = ("column_weight", "column_bias", "member_weight", "member_bias", "class_matrix", "left_out_loss")
_OF_RARE = ("features", "strength", "weight")
_OF_NETWORKS = ("bins", "sizes", "parents", "n_nodes", "child", "child_at", "m")
_OF_SCALES = ("features", "level", "median", "unit", "center", "scale", "curve_x", "curve_z", "curve_at")
_OF_TREES = ("tree_at", "feature", "test", "value", "next")
_OF_LINEAR = ("center", "coefficients", "intercept")
_OF_BOOSTING = (*_OF_TREES, "steps", "leaf_weight")


def counts_to_parts(counts: AutoCounts) -> tuple[dict[str, Any], Arrays]:
    """Return fields for JSON, and arrays."""
    plan = counts.plan
    meta: dict[str, Any] = {
        "schema": plan.schema.to_json(),
        "tree_strengths": [trees.m for trees in plan.trees],
        "believed": plan.believed,
        "plan_rows": plan.n_rows,
        "shrinkages": [gaussian.shrinkage for gaussian in plan.gaussians],
        "n_linear": len(plan.linear),
        "boosting_gains": [boosting.gain for boosting in plan.boosting],
    }
    arrays: Arrays = {}
    for name, labels in (("", counts.classes), ("plan_", plan.classes)):
        text = labels.dtype.kind in "OU"
        meta[f"{name}classes"] = labels.tolist() if text else None
        meta[f"{name}text_dtype"] = labels.dtype.str if text else None
        if not text:
            arrays[f"{name}classes"] = labels
    arrays |= {"edges": np.concatenate(plan.levels.edges), "places": np.concatenate(plan.levels.places)}
    arrays["n_edges"] = np.array([len(edges) for edges in plan.levels.edges])
    arrays |= _fields(plan, "", _OF_POOL) | _fields(plan.networks, "networks_", _OF_NETWORKS)
    arrays |= _fields(plan.rare, "rare_", _OF_RARE)
    for k, gaussian in enumerate(plan.gaussians):
        arrays |= _fields(gaussian, f"gaussian{k}_", _OF_SCALES)
    for k, trees in enumerate(plan.trees):
        arrays |= _fields(trees, f"trees{k}_", _OF_TREES)
    for k, linear in enumerate(plan.linear):
        arrays |= _fields(linear, f"linear{k}_", _OF_LINEAR) | _fields(linear.scales, f"linear{k}_scales_", _OF_SCALES)
    meta["texts"] = []
    for k, (member, words) in enumerate(zip(plan.texts, counts.texts, strict=True)):
        fields, parts = member.with_counts(words).to_parts()
        meta["texts"].append([member.column, fields])
        arrays |= {f"text{k}_{name}": part for name, part in parts.items()}
    for k, boosting in enumerate(plan.boosting):
        arrays |= _fields(boosting, f"boosting{k}_", _OF_BOOSTING)
    meta["holds_first"], meta["has_first"] = counts.holds_first, counts.first is not None
    arrays |= _cells_to_parts("", counts)
    if counts.first is not None:
        meta["first_texts"] = []
        for k, first_words in enumerate(counts.first.texts):
            fields, parts = first_words.to_parts()
            meta["first_texts"].append(fields)
            arrays |= {f"first_text{k}_{name}": part for name, part in parts.items()}
        arrays |= _cells_to_parts("first_", counts.first)
    return meta, arrays


def _cells_to_parts(prefix: str, counts: AutoCounts) -> Arrays:
    """Return the counts themselves, without what the plan says of them."""
    arrays: Arrays = {f"{prefix}n_class": counts.n_class}
    for k, sums in enumerate(counts.sums):
        arrays[f"{prefix}gaussian{k}_sums"] = sums
    for k, cells in enumerate(counts.trees):
        arrays |= _folded(f"{prefix}trees{k}_counts", cells)
    tables = {"rare": counts.rare, "n_level": counts.n_level, "networks": counts.networks}
    for name, cells in tables.items():
        arrays |= _folded(prefix + name, cells)
    return arrays


def _fields(part: Any, prefix: str, names: tuple[str, ...]) -> Arrays:
    return {prefix + name: getattr(part, name) for name in names}


def _folded(name: str, counts: NDArray[Any]) -> Arrays:
    """Return counts as they are, or those above 0 with the gaps between them: of many classes most are 0."""
    place = np.flatnonzero(counts)
    if len(place) >= SPARSE * counts.size or counts.size > MOST_UNFOLDED:
        return {name: counts}
    gaps, above = np.diff(place, prepend=0), counts.ravel()[place]
    if above.dtype.kind == "i":
        above = above.astype(np.min_scalar_type(above.max(initial=0)))
    narrow = np.min_scalar_type(gaps.max(initial=0))
    return {f"{name}_above": above, f"{name}_gaps": gaps.astype(narrow), f"{name}_type": counts[:0, 0]}


def counts_from_parts(meta: dict[str, Any], arrays: Arrays) -> AutoCounts:
    """Read what :func:`counts_to_parts` gave, checking each part; the kernels check what they use as places."""
    schema = Schema.from_json(meta["schema"])
    classes = read_classes(meta, arrays)
    plan_arrays = {"classes": arrays["plan_classes"]} if "plan_classes" in arrays else {}
    plan_meta = {"classes": meta["plan_classes"], "text_dtype": meta["plan_text_dtype"]}
    plan_classes = read_classes(plan_meta, plan_arrays)
    levels = _read_levels(schema, arrays)
    n, n_labels = len(schema), len(plan_classes)
    networks = _read_networks(arrays, levels, n)
    gaussians = tuple(
        _read_scales(arrays, f"gaussian{k}_", levels, _above_zero(shrinkage))
        for k, shrinkage in enumerate(expect_field(meta, "shrinkages", list))
    )
    trees = tuple(
        _read_trees(arrays, k, levels, _above_zero(m)) for k, m in enumerate(expect_field(meta, "tree_strengths", list))
    )
    linear = tuple(_read_linear(arrays, k, levels, n_labels) for k in range(_few(meta, "n_linear")))
    boosting = tuple(
        _read_boosting(arrays, k, levels, n_labels, _above_zero(gain))
        for k, gain in enumerate(expect_field(meta, "boosting_gains", list))
    )
    texts = [
        _read_words(arrays, k, column, fields, schema, classes)
        for k, (column, fields) in enumerate(meta.get("texts", []))
    ]
    n_members = 1 + len(gaussians) + len(trees) + len(linear) + len(texts)
    shapes = (n + 1,), (n_labels,), (n_members,), (n_labels,), (n_labels, n_labels + 1), (n_members + 1,)
    pool = [_read_numbers(arrays, name, *shape) for name, shape in zip(_OF_POOL, shapes, strict=True)]
    rare = _read_rare(arrays, levels)
    plan = PoolPlan(
        schema,
        levels,
        networks,
        rare,
        gaussians,
        trees,
        linear,
        tuple(member for member, _ in texts),
        boosting,
        plan_classes,
        pool[0],
        pool[1],
        pool[2],
        pool[3],
        pool[4],
        pool[5],
        _share(meta["believed"]),
        _above_zero(meta["plan_rows"], 1e15),
    )
    counts = _read_cells("", arrays, plan, classes, tuple(words for _, words in texts))
    # Files of an older form do not say whose rows copies have in common.
    if not meta.get("has_first", False):
        return replace(counts, holds_first=bool(meta.get("holds_first", False)))
    words = tuple(_first_words(arrays, k, fields, classes) for k, fields in enumerate(meta["first_texts"]))
    if len(words) != len(texts):
        raise ModelFileError("the words of the first fit are not those of the columns of text.")
    return replace(counts, holds_first=True, first=_read_cells("first_", arrays, plan, classes, words))


def _read_cells(
    prefix: str, arrays: Arrays, plan: PoolPlan, classes: NDArray[Any], words: tuple[TokenCounts, ...]
) -> AutoCounts:
    """Read the counts themselves, under a plan that was read."""
    k = len(classes)
    leaves = [(f"{prefix}trees{t}_counts", (each.kernel.n_leaves, k)) for t, each in enumerate(plan.trees)]
    sums = [(f"{prefix}gaussian{g}_sums", k, len(each.features)) for g, each in enumerate(plan.gaussians)]
    return AutoCounts(
        plan,
        classes,
        _read_counts(arrays, f"{prefix}n_class", (k,)),
        _read_counts(arrays, f"{prefix}n_level", (int(plan.levels.level_at[-1]), k)),
        _read_counts(arrays, f"{prefix}networks", (plan.networks.kernel.n_values, k)),
        _read_counts(arrays, f"{prefix}rare", (int(plan.rare.value_at[-1]), k)),
        tuple(_read_counts(arrays, *each) for each in leaves),
        tuple(_read_sums(arrays, *each) for each in sums),
        words,
    )


def _first_words(arrays: Arrays, k: int, fields: dict[str, Any], classes: NDArray[Any]) -> TokenCounts:
    start = f"first_text{k}_"
    parts = {name.removeprefix(start): part for name, part in arrays.items() if name.startswith(start)}
    words = TokenCounts.from_parts(fields, parts)
    if words.tokenizer != TOKENS or not np.array_equal(words.classes, classes):
        raise ModelFileError("the words of the first fit are of other classes than the table, or cut otherwise.")
    return words


def _read_numbers(arrays: Arrays, name: str, *shape: int | None) -> NDArray[np.float64]:
    numbers = expect_array(arrays, name, np.float64, shape)
    if not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0.0) > 1e6:
        raise ModelFileError(f"array {name!r} holds a number that was never learned.")
    return numbers


def _few(meta: dict[str, Any], name: str) -> int:
    number = expect_field(meta, name, int)
    if not 0 <= number <= 1:
        raise ModelFileError(f"field {name!r} is {number}; 0 or 1 is needed.")
    return number


def _share(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ModelFileError(f"a share of the file is {value!r}; it must be a number from 0 to 1.")
    return float(value)


def _above_zero(value: Any, most: float = 1e9) -> float:
    if not isinstance(value, int | float) or not 0 < value < most:
        raise ModelFileError(f"a number of the file is {value!r}; it must be above 0.")
    return float(value)


def _read_levels(schema: Schema, arrays: Arrays) -> Levels:
    ordered = np.array([variable.is_numeric for variable in schema], dtype=bool)
    n_edges = expect_array(arrays, "n_edges", np.int64, (len(schema),))
    if (n_edges < 0).any() or (n_edges > 253).any() or n_edges[~ordered].any():
        raise ModelFileError("the bins of a column do not fit its kind.")
    edges = expect_array(arrays, "edges", np.float64, (int(n_edges.sum()),))
    sizes = np.array([0 if v.is_numeric else 1 if v.is_text else v.n_values for v in schema])
    places = expect_array(arrays, "places", np.uint8, (int(sizes.sum()),))
    if (places < OTHER_LEVEL).any() or (places > 254).any() or not np.isfinite(edges).all():
        raise ModelFileError("a level of the file is out of range.")
    cut = tuple(np.split(edges, np.cumsum(n_edges)[:-1]))
    if any((np.diff(each) <= 0).any() for each in cut):
        raise ModelFileError("the edges of a column are not in increasing order.")
    return Levels(cut, tuple(np.split(places, np.cumsum(sizes)[:-1])), ordered)


def _read_networks(arrays: Arrays, levels: Levels, n: int) -> NetworkPlan:
    t = len(arrays["networks_sizes"])
    n_levels = int(levels.level_at[-1])
    return NetworkPlan(
        expect_array(arrays, "networks_bins", np.uint8, (t, n_levels)),
        expect_array(arrays, "networks_sizes", np.int32, (t, n)),
        expect_array(arrays, "networks_parents", np.int32, (t, n, DEPTHS)),
        expect_array(arrays, "networks_n_nodes", np.int32, (t, n, DEPTHS + 1)),
        expect_array(arrays, "networks_child", np.int32, (None,)),
        expect_array(arrays, "networks_child_at", np.int64, (t * n + 1,)),
        levels.level_at,
        expect_array(arrays, "networks_m", np.float64, (t, n, DEPTHS + 1)),
    )


def _read_rare(arrays: Arrays, levels: Levels) -> RareValues:
    features = expect_array(arrays, "rare_features", np.int64, (None,))
    if (np.diff(features) <= 0).any() or not np.isin(features, np.flatnonzero(~levels.ordered)).all():
        raise ModelFileError("a column with rare values is out of range.")
    strength, weight = (_read_numbers(arrays, f"rare_{name}", len(features)) for name in ("strength", "weight"))
    if (strength <= 0).any():
        raise ModelFileError("a strength of the rare values is not above 0.")
    return RareValues(features, tuple(levels.places[j] for j in features), strength, weight)


def _read_scales(arrays: Arrays, prefix: str, levels: Levels, shrinkage: float) -> GaussianPlan:
    def part(name: str, dtype: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
        array = expect_array(arrays, prefix + name, dtype, shape)
        if not np.isfinite(array).all():
            raise ModelFileError(f"array {prefix + name!r} holds a number that is not finite.")
        return array

    features = part("features", np.int64, (None,))
    p = len(features)
    level = part("level", np.int64, (p,))
    curve_at = part("curve_at", np.int64, (None,))
    if not p or (features < 0).any() or (features >= len(levels.ordered)).any():
        raise ModelFileError("a column of the Gaussians is out of range.")
    is_number = np.arange(p) < len(curve_at) - 1
    if not len(curve_at) or len(curve_at) - 1 > p or (levels.ordered[features] != is_number).any():
        raise ModelFileError("a column of the Gaussians is not of its kind.")
    if (level[is_number] != -1).any() or (level[~is_number] < 0).any() or (level[~is_number] > 254).any():
        raise ModelFileError("a level of the Gaussians is out of range.")
    curve_x, curve_z = (part(name, np.float64, (int(curve_at[-1]),)) for name in ("curve_x", "curve_z"))
    if curve_at[0] != 0 or (np.diff(curve_at) < (1 if len(curve_x) else 0)).any():
        raise ModelFileError("the curves of the normal scores do not fit.")
    unit, scale = part("unit", np.float64, (p,)), part("scale", np.float64, (p,))
    if (unit <= 0).any() or (scale <= 0).any():
        raise ModelFileError("a scale of the Gaussians is not above 0.")
    return GaussianPlan(
        features,
        level,
        part("median", np.float64, (p,)),
        unit,
        part("center", np.float64, (p,)),
        scale,
        curve_x,
        curve_z,
        curve_at,
        shrinkage,
    )


def _read_trees(arrays: Arrays, k: int, levels: Levels, m: float) -> TreePlan:
    return TreePlan(levels.level_at, *_read_tests(arrays, f"trees{k}_"), m)


def _read_tests(
    arrays: Arrays, prefix: str
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    types = np.int64, np.int32, np.uint8, np.uint32, np.int32
    a, b, c, d, e = (
        expect_array(arrays, prefix + name, kind, (None,)) for name, kind in zip(_OF_TREES, types, strict=True)
    )
    return a, b, c, d, e


def _read_boosting(arrays: Arrays, k: int, levels: Levels, n_classes: int, gain: float) -> BoostPlan:
    prefix = f"boosting{k}_"
    steps = expect_array(arrays, f"{prefix}steps", np.float32, (None, n_classes))
    weight = expect_array(arrays, f"{prefix}leaf_weight", np.float64, (len(steps),))
    if not np.isfinite(steps).all() or np.abs(steps).max(initial=0.0) > 1e6:
        raise ModelFileError("a step of the boosted trees was never learned.")
    if not np.isfinite(weight).all() or (weight < 0).any() or weight.max(initial=0) > 1e15:
        raise ModelFileError("the weight of a leaf of the boosted trees is one that no rows give.")
    plan = BoostPlan(levels.level_at, *_read_tests(arrays, prefix), steps, weight, gain)
    if plan.kernel.n_leaves != len(steps):
        raise ModelFileError("the steps of the boosted trees do not fit their leaves.")
    return plan


def _read_linear(arrays: Arrays, k: int, levels: Levels, n_classes: int) -> LinearPlan:
    scales = _read_scales(arrays, f"linear{k}_scales_", levels, 1.0)
    p = len(scales.features)
    shapes = (p,), (p, n_classes), (n_classes,)
    named = zip(_OF_LINEAR, shapes, strict=True)
    return LinearPlan(scales, *(_read_numbers(arrays, f"linear{k}_{name}", *shape) for name, shape in named))


def _read_words(
    arrays: Arrays, k: int, column: int, fields: dict[str, Any], schema: Schema, classes: NDArray[Any]
) -> tuple[TextMember, TokenCounts]:
    from bayeskit.classify.auto_text.counts import AutoTextCounts  # which needs scipy.sparse

    start = f"text{k}_"
    parts = {name.removeprefix(start): part for name, part in arrays.items() if name.startswith(start)}
    counts = AutoTextCounts.from_parts(fields, parts)
    if column not in schema.texts or counts.tokens.tokenizer != TOKENS:
        raise ModelFileError("a column of text is out of range, or its words were cut in another way.")
    if not np.array_equal(counts.tokens.classes, classes):
        raise ModelFileError("the words of a column of text are of other classes than the table.")
    return TextMember(column, counts.plan), counts.tokens


def _read_counts(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    unfolded = arrays if name in arrays else {name: _unfolded(arrays, name, shape)}
    if unfolded[name].dtype not in (np.int32, np.int64, np.float64):
        raise ModelFileError(f"array {name!r} holds no counts.")
    counts = expect_array(unfolded, name, unfolded[name].dtype, shape)
    if not np.isfinite(counts).all() or (counts < 0).any() or counts.max(initial=0) > 1e15:
        raise ModelFileError(f"array {name!r} holds a count that no rows give.")
    return counts


def _unfolded(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return counts of which only those above 0 were written."""
    parts = [arrays.get(f"{name}_{part}") for part in ("above", "gaps", "type")]
    if any(part is None or part.ndim != 1 for part in parts):
        raise ModelFileError(f"array {name!r} is not there.")
    above, gaps, empty = (np.asarray(part) for part in parts)
    size = int(np.prod(shape, dtype=np.float64))
    place = np.cumsum(gaps, dtype=np.float64)  # whole numbers, which cannot overflow
    if gaps.dtype.kind != "u" or len(above) != len(gaps) or size > MOST_UNFOLDED or place.max(initial=0) >= size:
        raise ModelFileError(f"array {name!r} holds counts that do not fit the model.")
    counts = np.zeros(size, dtype=empty.dtype)
    counts[place.astype(np.int64)] = above
    return counts.reshape(shape)


def _read_sums(arrays: Arrays, name: str, n_classes: int, p: int) -> NDArray[np.float64]:
    sums = expect_array(arrays, name, np.float64, (n_classes, p + 1, p + 1))
    if not np.isfinite(sums).all() or np.abs(sums).max(initial=0.0) > 1e17 or not sums[:, 0, 0].sum() > 0:
        raise ModelFileError(f"array {name!r} holds a sum that no rows give.")
    return sums
