"""The counts and the plan of an AutoBayes as the parts of a file, and back; a file may be untrusted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.counts import AutoCounts, PoolPlan
from bayeskit.classify.auto.evidence_networks import DEPTHS, NetworkPlan
from bayeskit.classify.auto.gaussians import GaussianPlan
from bayeskit.classify.auto.levels import OTHER_LEVEL, Levels
from bayeskit.classify.auto.trees import TreePlan
from bayeskit.counts.table import read_classes
from bayeskit.errors import ModelFileError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.table.schema import Schema

Arrays = dict[str, NDArray[Any]]


def counts_to_parts(counts: AutoCounts) -> tuple[dict[str, Any], Arrays]:
    """Return fields for JSON, and arrays."""
    plan = counts.plan
    meta: dict[str, Any] = {"schema": plan.schema.to_json(), "n_gaussians": len(plan.gaussians)}
    meta["tree_strengths"] = [trees.m for trees in plan.trees]
    meta["believed"] = plan.believed
    meta["shrinkages"] = [gaussian.shrinkage for gaussian in plan.gaussians]
    arrays: Arrays = {}
    for name, labels in (("", counts.classes), ("plan_", plan.classes)):
        text = labels.dtype.kind in "OU"
        meta[f"{name}classes"] = labels.tolist() if text else None
        meta[f"{name}text_dtype"] = labels.dtype.str if text else None
        if not text:
            arrays[f"{name}classes"] = labels
    arrays |= {"edges": np.concatenate(plan.levels.edges), "places": np.concatenate(plan.levels.places)}
    arrays["n_edges"] = np.array([len(edges) for edges in plan.levels.edges])
    for name in ("column_weight", "column_bias", "member_weight", "member_bias", "class_matrix"):
        arrays[name] = getattr(plan, name)
    arrays["left_out_loss"] = plan.left_out_loss
    for name in ("bins", "sizes", "parents", "n_nodes", "child", "child_at", "m"):
        arrays[f"networks_{name}"] = getattr(plan.networks, name)
    for k, gaussian in enumerate(plan.gaussians):
        for name in ("features", "level", "median", "unit", "center", "scale", "curve_x", "curve_z", "curve_at"):
            arrays[f"gaussian{k}_{name}"] = getattr(gaussian, name)
        arrays[f"gaussian{k}_sums"] = counts.sums[k]
    for k, trees in enumerate(plan.trees):
        for name in ("tree_at", "feature", "test", "value", "next"):
            arrays[f"trees{k}_{name}"] = getattr(trees, name)
        arrays[f"trees{k}_counts"] = counts.trees[k]
    arrays |= {"n_class": counts.n_class, "n_level": counts.n_level, "networks": counts.networks}
    return meta, arrays


def counts_from_parts(meta: dict[str, Any], arrays: Arrays) -> AutoCounts:
    """Read what :func:`counts_to_parts` gave, checking each part; the kernels check what they use as places."""
    schema = Schema.from_json(meta["schema"])
    classes = read_classes(meta, arrays)
    plan_arrays = {"classes": arrays["plan_classes"]} if "plan_classes" in arrays else {}
    plan_meta = {"classes": meta["plan_classes"], "text_dtype": meta["plan_text_dtype"]}
    plan_classes = read_classes(plan_meta, plan_arrays)
    levels = _read_levels(schema, arrays)
    n, n_levels = len(schema), int(levels.level_at[-1])
    networks = _read_networks(arrays, levels, n)
    gaussians = tuple(
        _read_gaussian(arrays, k, levels, _above_zero(shrinkage))
        for k, shrinkage in enumerate(expect_field(meta, "shrinkages", list))
    )
    trees = tuple(
        _read_trees(arrays, k, levels, _above_zero(m)) for k, m in enumerate(expect_field(meta, "tree_strengths", list))
    )
    n_members = 1 + len(gaussians) + len(trees)

    def numbers(name: str, *shape: int) -> NDArray[np.float64]:
        found = expect_array(arrays, name, np.float64, shape)
        if not np.isfinite(found).all() or np.abs(found).max(initial=0.0) > 1e6:
            raise ModelFileError(f"array {name!r} holds a number that was never learned.")
        return found

    plan = PoolPlan(
        schema,
        levels,
        networks,
        gaussians,
        trees,
        plan_classes,
        numbers("column_weight", n + 1),
        numbers("column_bias", len(plan_classes)),
        numbers("member_weight", n_members),
        numbers("member_bias", len(plan_classes)),
        numbers("class_matrix", len(plan_classes), len(plan_classes) + 1),
        numbers("left_out_loss", n_members + 1),
        _share(meta["believed"]),
    )
    k = len(classes)
    n_class = _read_counts(arrays, "n_class", (k,))
    return AutoCounts(
        plan,
        classes,
        n_class,
        _read_counts(arrays, "n_level", (n_levels, k)),
        _read_counts(arrays, "networks", (networks.kernel.n_values, k)),
        tuple(_read_counts(arrays, f"trees{t}_counts", (each.kernel.n_leaves, k)) for t, each in enumerate(trees)),
        tuple(_read_sums(arrays, f"gaussian{g}_sums", k, len(each.features)) for g, each in enumerate(gaussians)),
    )


def _share(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ModelFileError(f"a share of the file is {value!r}; it must be a number from 0 to 1.")
    return float(value)


def _above_zero(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 < value < 1e9:
        raise ModelFileError(f"a strength of the file is {value!r}; it must be a number above 0.")
    return float(value)


def _read_levels(schema: Schema, arrays: Arrays) -> Levels:
    ordered = np.array([variable.is_numeric for variable in schema], dtype=bool)
    n_edges = expect_array(arrays, "n_edges", np.int64, (len(schema),))
    if (n_edges < 0).any() or (n_edges > 253).any() or n_edges[~ordered].any():
        raise ModelFileError("the bins of a column do not fit its kind.")
    edges = expect_array(arrays, "edges", np.float64, (int(n_edges.sum()),))
    sizes = np.array([0 if variable.is_numeric else variable.n_values for variable in schema])
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


def _read_gaussian(arrays: Arrays, k: int, levels: Levels, shrinkage: float) -> GaussianPlan:
    def part(name: str, dtype: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
        found = expect_array(arrays, f"gaussian{k}_{name}", dtype, shape)
        if not np.isfinite(found).all():
            raise ModelFileError(f"array 'gaussian{k}_{name}' holds a number that is not finite.")
        return found

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
    curve_x, curve_z = (
        part("curve_x", np.float64, (int(curve_at[-1]),)),
        part("curve_z", np.float64, (int(curve_at[-1]),)),
    )
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
    return TreePlan(
        levels.level_at,
        expect_array(arrays, f"trees{k}_tree_at", np.int64, (None,)),
        expect_array(arrays, f"trees{k}_feature", np.int32, (None,)),
        expect_array(arrays, f"trees{k}_test", np.uint8, (None,)),
        expect_array(arrays, f"trees{k}_value", np.uint32, (None,)),
        expect_array(arrays, f"trees{k}_next", np.int32, (None,)),
        m,
    )


def _read_counts(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if name not in arrays or arrays[name].dtype not in (np.int32, np.int64, np.float64):
        raise ModelFileError(f"array {name!r} holds no counts.")
    found = expect_array(arrays, name, arrays[name].dtype, shape)
    if not np.isfinite(found).all() or (found < 0).any() or found.max(initial=0) > 1e15:
        raise ModelFileError(f"array {name!r} holds a count that no rows give.")
    return found


def _read_sums(arrays: Arrays, name: str, n_classes: int, p: int) -> NDArray[np.float64]:
    found = expect_array(arrays, name, np.float64, (n_classes, p + 1, p + 1))
    if not np.isfinite(found).all() or np.abs(found).max(initial=0.0) > 1e17 or not found[:, 0, 0].sum() > 0:
        raise ModelFileError(f"array {name!r} holds a sum that no rows give.")
    return found
