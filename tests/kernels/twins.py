"""Plain NumPy twins of the compiled kernels, written to be checked by eye; slow on purpose."""

import math
from fractions import Fraction

import numpy as np


def count_bytes(array, y, weight, n_classes):
    """n[j, v, c] = weight of the rows of class c that hold v in column j; None when a value is outside 0 .. 255."""
    if array.size and (array.min() < 0 or array.max() > 255):
        return None
    n = np.zeros((array.shape[1], 256, n_classes), dtype=np.int64 if weight is None else np.float64)
    for i in range(len(array)):
        for j in range(array.shape[1]):
            n[j, int(array[i, j]), y[i]] += 1 if weight is None else weight[i]
    return n


def count_values(columns, y, weight, n_classes, sizes):
    """The tables of all columns, one below the other; a code that is no value is left out."""
    tables = [np.zeros((size, n_classes), dtype=np.int64 if weight is None else np.float64) for size in sizes]
    for table, column, size in zip(tables, columns, sizes, strict=True):
        for i, code in enumerate(column):
            if code < size:
                table[code, y[i]] += 1 if weight is None else weight[i]
    return np.concatenate([*tables, np.zeros((0, n_classes), dtype=np.int64 if weight is None else np.float64)])


def count_classes(y, weight, n_classes):
    """n[c] = weight of the rows of class c."""
    return np.array([np.sum(y == c) if weight is None else math.fsum(weight[y == c]) for c in range(n_classes)])


def count_moments(columns, y, weight, n_classes):
    """Weight, mean and sum of squared deviations of each column in each class, in fractions; None for infinite ones."""
    parts = np.full((3, len(columns), n_classes), Fraction(0))
    for j, column in enumerate(columns):
        x = np.asarray(column, dtype=np.float64)
        if np.isinf(x).any():
            return None
        for c in range(n_classes):
            rows = np.flatnonzero((y == c) & ~np.isnan(x))
            w = [Fraction(1) if weight is None else Fraction(float(weight[i])) for i in rows]
            values = [Fraction(float(x[i])) for i in rows]
            if sum(w) > 0:
                mean = sum(a * b for a, b in zip(w, values, strict=True)) / sum(w)
                parts[:, j, c] = sum(w), mean, sum(a * (b - mean) ** 2 for a, b in zip(w, values, strict=True))
    return parts


def whole_levels(column):
    """The distinct values in rising order; None when one is no whole number or they span 2²² or more."""
    values = [value for value in column.tolist() if value == value]
    if any(math.isinf(value) or value != math.floor(value) or abs(value) > 9e15 for value in values):
        return None
    levels = sorted({int(value) for value in values})
    if levels and levels[-1] - levels[0] >= 1 << 22:
        return None
    return levels


def recode(column, lo, lookup, code_bytes, coded):
    """codes[i] = lookup[column[i] - lo]; -1 in the lookup, or a value outside it, is unseen, -2 is missing."""
    missing, unseen = 256**code_bytes - 1, 256**code_bytes - 2
    reserved = coded and column.dtype.kind == "u" and column.dtype.itemsize <= 4
    codes = []
    for value in column.tolist():
        if value != value or (reserved and value == np.iinfo(column.dtype).max and value - lo >= len(lookup)):
            codes.append(missing)
        elif math.isinf(value) or value != math.floor(value) or not 0 <= int(value) - lo < len(lookup):
            codes.append(unseen)
        else:
            code = lookup[int(value) - lo]
            codes.append(unseen if code == -1 else missing if code == -2 else code)
    return np.array(codes, dtype=f"u{code_bytes}")


def digitise(column, edges, code_bytes):
    """The number of edges at or below each value; a missing value has the largest code."""
    codes = [256**code_bytes - 1 if x != x else sum(edge <= x for edge in edges) for x in column.tolist()]
    return np.array(codes, dtype=f"u{code_bytes}")


def encode(values, is_missing):
    """Each value's number in order of first appearance, and the values in that order."""
    levels = []
    codes = []
    for value in values:
        if is_missing(value):
            codes.append(2**32 - 1)
            continue
        same = [k for k, level in enumerate(levels) if type(level) is type(value) and level == value]
        if not same:
            levels.append(value)
        codes.append(same[0] if same else len(levels) - 1)
    return np.array(codes, dtype=np.uint32), levels


def log_joint(log_prior, features, columns, coded):
    """log P(c) + Σ log P(x_j | c), where a feature is (family, low, table)."""
    n_rows = len(columns[0])
    joint = np.tile(np.asarray(log_prior, dtype=np.float64), (n_rows, 1))
    for (family, low, table), column in zip(features, columns, strict=True):
        for i, x in enumerate(column.tolist()):
            if family == "table":
                joint[i] += table[_level(x, 0 if coded else low, len(table) - 2, column.dtype, coded)]
            elif x != x or family == "skip":
                continue
            elif family == "gaussian":
                constant, mean, half = table
                joint[i] += constant - (x - mean) ** 2 * half
            else:
                log_rate, rate = table
                joint[i] += (0.0 if x == 0 else x * log_rate) - rate - math.lgamma(x + 1.0)
    return joint


def kernel_density(column, values, counts, bandwidth):
    """log Σ_v n_v φ((x − v) / h) / (n h), class by class; 0 where x is missing."""
    out = np.zeros((len(column), counts.shape[1]))
    for i, x in enumerate(column.astype(float).tolist()):
        for c, h in enumerate(bandwidth):
            if x == x:
                exponents = [-(((x - v) / h) ** 2) / 2 for v in values]
                peak = max(e for e, n in zip(exponents, counts[:, c], strict=True) if n)
                total = math.fsum(n * math.exp(e - peak) for e, n in zip(exponents, counts[:, c], strict=True) if n)
                out[i, c] = peak + math.log(total / (counts[:, c].sum() * h * math.sqrt(2 * math.pi)))
    return out


def _level(x, low, size, dtype, coded):
    if x != x:
        return size + 1
    if not math.isinf(x) and x == math.floor(x) and 0 <= int(x) - low < size:
        return int(x) - low
    reserved = coded and dtype.kind == "u" and dtype.itemsize <= 4 and x == np.iinfo(dtype).max
    return size + 1 if reserved else size


def least_risk(posterior, order, loss):
    """The first action of least Σ_c P(c) order(c, a) in each row, and its Σ_c P(c) loss(c, a)."""
    actions, risks = [], []
    for row in posterior:
        sums = [sum(p * order[c, a] for c, p in enumerate(row)) for a in range(order.shape[1])]
        best = sums.index(min(sums))
        actions.append(best)
        risks.append(sum(p * loss[c, best] for c, p in enumerate(row)))
    return actions, risks
