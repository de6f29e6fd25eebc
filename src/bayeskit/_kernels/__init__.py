"""The Python face of the compiled module: arrays in, arrays out, input checked before the call."""

from bayeskit._kernels._native import (
    NaiveScorer,
    count_bytes,
    count_classes,
    count_moments,
    count_values,
    digitise,
    encode_arrow,
    encode_fixed,
    encode_objects,
    least_risk,
    recode,
    whole_levels,
)
from bayeskit._kernels.threads import n_threads, threads

__all__ = [
    "NaiveScorer",
    "count_bytes",
    "count_classes",
    "count_moments",
    "count_values",
    "digitise",
    "encode_arrow",
    "encode_fixed",
    "encode_objects",
    "least_risk",
    "n_threads",
    "recode",
    "threads",
    "whole_levels",
]
