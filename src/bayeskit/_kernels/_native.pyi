from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Table = Numbers | list[Numbers]

class NaiveScorer:
    def __init__(
        self,
        log_prior: NDArray[np.float64],
        parameters: NDArray[np.float64],
        families: Sequence[int],
        lows: Sequence[int],
        sizes: Sequence[int],
    ) -> None: ...
    def score(
        self, table: Table, coded: bool, result: int, fallback: bool, n_threads: int
    ) -> tuple[NDArray[Any], int, int]: ...

def count_bytes(
    array: Numbers, y: Numbers, weight: NDArray[np.float64] | None, n_classes: int, n_threads: int
) -> NDArray[Any] | None: ...
def count_values(
    columns: list[Numbers],
    y: Numbers,
    weight: NDArray[np.float64] | None,
    n_classes: int,
    sizes: Sequence[int],
    n_threads: int,
) -> NDArray[Any]: ...
def count_classes(y: Numbers, weight: NDArray[np.float64] | None, n_classes: int) -> NDArray[Any]: ...
def count_moments(
    table: Table, y: Numbers, weight: NDArray[np.float64] | None, n_classes: int, n_threads: int
) -> NDArray[np.float64] | None: ...
def whole_levels(column: Numbers) -> NDArray[np.int64] | None: ...
def recode(column: Numbers, lo: int, lookup: NDArray[np.int64], code_bytes: int, coded: bool) -> NDArray[Any]: ...
def digitise(column: Numbers, edges: NDArray[np.float64], code_bytes: int) -> NDArray[Any]: ...
def encode_objects(column: Numbers, missing: list[object]) -> tuple[NDArray[np.uint32], list[Any]]: ...
def encode_arrow(stream: object) -> tuple[NDArray[np.uint32], list[str]]: ...
def encode_fixed(bytes: NDArray[np.uint8], width: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
def least_risk(
    posterior: NDArray[np.float64],
    order: NDArray[np.float64],
    loss: NDArray[np.float64],
    tolerance: float,
    action: NDArray[np.int64],
    risk: NDArray[np.float64] | None,
    n_threads: int,
) -> int: ...

Weight = NDArray[np.float64] | None

class AverageScorer:
    def __init__(
        self,
        n_class: Numbers,
        n_value: Numbers,
        pairs: Numbers,
        triples: Numbers | None,
        sizes: Sequence[int],
        smoothing: float,
        min_count: float,
        smooth: bool,
    ) -> None: ...
    def score(self, columns: Table, answer: int, fallback: bool, n_threads: int) -> tuple[NDArray[Any], int]: ...
    def leave_one_out(
        self, columns: list[Numbers], y: Numbers, weight: Weight, fallback: bool, n_threads: int
    ) -> tuple[NDArray[np.float64], int]: ...

class FamilyScorer:
    def __init__(
        self,
        log_prior: Numbers,
        log_tables: Numbers,
        sizes: Sequence[int],
        families: Sequence[Sequence[int]],
        smooth: bool,
        prior_feature: int,
    ) -> None: ...
    def score(self, columns: Table, answer: int, fallback: bool, n_threads: int) -> tuple[NDArray[Any], int]: ...
    def leave_one_out(
        self,
        columns: list[Numbers],
        y: Numbers,
        weight: Weight,
        n_class: Numbers,
        counts: Numbers,
        class_pseudo: Numbers,
        pseudo: Numbers,
        fallback: bool,
        n_threads: int,
    ) -> tuple[NDArray[np.float64], int]: ...

def mdl_edges(
    table: Table, y: Numbers, weight: Weight, n_classes: int, n_threads: int
) -> list[NDArray[np.float64]]: ...
def count_subsets(
    columns: list[Numbers],
    y: Numbers,
    weight: Weight,
    n_classes: int,
    sizes: Sequence[int],
    order: int,
    n_threads: int,
) -> NDArray[Any]: ...
def count_families(
    columns: list[Numbers],
    y: Numbers,
    weight: Weight,
    n_classes: int,
    sizes: Sequence[int],
    families: Sequence[Sequence[int]],
    n_threads: int,
) -> NDArray[Any]: ...
def log_shares(
    tables: list[Numbers], n_values: Sequence[int], n_classes: int, smoothing: float, n_threads: int
) -> NDArray[np.float64]: ...
def prefix_losses(
    columns: list[Numbers],
    y: Numbers,
    weight: Weight,
    n_class: Numbers,
    counts: Numbers,
    sizes: Sequence[int],
    families: Sequence[Sequence[int]],
    before: Sequence[int],
    smoothing: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def super_parent_losses(
    columns: list[Numbers],
    y: Numbers,
    weight: Weight,
    n_value: Numbers,
    pairs: Numbers,
    sizes: Sequence[int],
    n_classes: int,
    smoothing: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def conditional_information(
    counts: Numbers, sizes: Sequence[int], n_classes: int, all: float, n_threads: int
) -> NDArray[np.float64]: ...
def parse_bif(
    data: bytes, normalise: bool, tolerance: float
) -> (
    tuple[tuple[int, int], str]
    | tuple[list[str], list[tuple[str, ...]], list[tuple[int, ...]], NDArray[np.float64], list[tuple[int, int, int]]]
): ...
def log_probability(
    columns: Table,
    cards: Sequence[int],
    parents: Sequence[Sequence[int]],
    log_tables: NDArray[np.float64],
    n_threads: int,
) -> tuple[NDArray[np.float64], int, int]: ...

SAMPLE_CHUNK: int

class InferencePlan:
    @property
    def strategy(self) -> str: ...
    @property
    def entries(self) -> float: ...
    @property
    def largest(self) -> float: ...
    @property
    def largest_vars(self) -> list[int]: ...
    def marginals(
        self, hard: list[int], states: list[int], soft: list[int], likelihoods: list[NDArray[np.float64]]
    ) -> tuple[Any, float]: ...
    def joint(
        self, hard: list[int], states: list[int], soft: list[int], likelihoods: list[NDArray[np.float64]]
    ) -> tuple[Any, float]: ...
    def maximum(
        self, hard: list[int], states: list[int], soft: list[int], likelihoods: list[NDArray[np.float64]]
    ) -> tuple[Any, float]: ...

class InferenceEngine:
    def __init__(self, cards: list[int], parents: list[list[int]], tables: list[NDArray[np.float64]]) -> None: ...
    def compile(self, tries: int, work: int, seed: int) -> None: ...
    @property
    def entries(self) -> float: ...
    def marginals(self, hard: list[int]) -> InferencePlan: ...
    def joint(self, targets: list[int], hard: list[int], soft: list[int], with_evidence: bool) -> InferencePlan: ...
    def maximum(self, sought: list[int], hard: list[int], soft: list[int]) -> InferencePlan: ...

class RowPosterior:
    def __init__(self, engine: InferenceEngine, targets: list[int], column_vars: list[int]) -> None: ...
    @property
    def entries(self) -> float: ...
    def run(self, table: list[Numbers], limit: float, n_threads: int) -> tuple[NDArray[np.float64], list[int], int]: ...

class Sampler:
    def __init__(self, engine: InferenceEngine) -> None: ...
    def forward(self, n_rows: int, seed: int, n_threads: int) -> list[NDArray[Any]]: ...
    def weighted(
        self,
        hard: list[int],
        states: list[int],
        soft: list[int],
        likelihoods: list[NDArray[np.float64]],
        wanted: list[int],
        reject: bool,
        first: int,
        n_chunks: int,
        seed: int,
        n_threads: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    def gibbs(
        self,
        hard: list[int],
        states: list[int],
        soft: list[int],
        likelihoods: list[NDArray[np.float64]],
        first: int,
        n_chains: int,
        burn_in: int,
        n_batches: int,
        batch: int,
        seed: int,
        n_threads: int,
    ) -> NDArray[np.float64]: ...

def triangulate(
    cards: list[int], scopes: list[list[int]], stage: list[int], tries: int, work: int, seed: int
) -> tuple[list[int], list[list[int]], list[int], float]: ...
