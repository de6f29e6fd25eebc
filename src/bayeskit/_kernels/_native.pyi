from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Table = Numbers | list[Numbers]

def instruction_set() -> str: ...

class Score(IntEnum):
    LOG_JOINT = 0
    LOG_POSTERIOR = 1
    POSTERIOR = 2
    CLASS = 3
    LOG_EVIDENCE = 4

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
        self,
        table: Table,
        coded: bool,
        wanted: Score,
        fallback: bool,
        terms: NDArray[np.float64] | None,
        n_threads: int,
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
def count_scatter(
    table: Table, groups: Numbers, weight: NDArray[np.float64] | None, n_groups: int, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None: ...
def add_moments(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]: ...
def subtract_moments(
    a: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[NDArray[np.float64] | None, Literal[0, 1, 2]]: ...
def logistic_gradient(
    table: Table,
    y: Numbers,
    weight: NDArray[np.float64] | None,
    coef: NDArray[np.float64],
    center: NDArray[np.float64],
    n_threads: int,
) -> tuple[float, NDArray[np.float64]]: ...
def logistic_hessian(
    table: Table,
    weight: NDArray[np.float64] | None,
    coef: NDArray[np.float64],
    center: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def whole_levels(column: Numbers) -> NDArray[np.int64] | None: ...
def recode(column: Numbers, lo: int, lookup: NDArray[np.int64], code_bytes: int, coded: bool) -> NDArray[Any]: ...
def digitise(column: Numbers, edges: NDArray[np.float64], code_bytes: int) -> NDArray[Any]: ...
def encode_objects(column: Numbers, missing: list[object]) -> tuple[NDArray[np.uint32], list[Any]]: ...
def encode_arrow(stream: object) -> tuple[NDArray[np.uint32], list[str]]: ...
def encode_fixed(bytes: NDArray[np.uint8], width: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
def kernel_density(
    column: Numbers,
    values: NDArray[np.float64],
    counts: NDArray[np.float64],
    bandwidth: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
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
        class_pseudo: float,
        pseudo: Sequence[float],
        parent_pseudo: Sequence[float],
        pair_pseudo: Sequence[float],
        prior: Numbers | None,
        prior_of_rows: bool,
        min_count: float,
        smooth: bool,
    ) -> None: ...
    def score(self, columns: Table, wanted: Score, fallback: bool, n_threads: int) -> tuple[NDArray[Any], int]: ...
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
    def score(
        self, columns: Table, wanted: Score, fallback: bool, n_threads: int
    ) -> tuple[NDArray[Any], int, list[int]]: ...
    def leave_one_out(
        self,
        columns: list[Numbers],
        y: Numbers,
        weight: Weight,
        n_class: Numbers,
        counts: Numbers,
        class_pseudo: Numbers,
        pseudo: Numbers,
        log_without: Numbers | None,
        log_other: Numbers | None,
        wanted: Score,
        fallback: bool,
        n_threads: int,
    ) -> tuple[NDArray[np.float64], int, list[int]]: ...

def mdl_edges(
    table: Table, y: Numbers, weight: Weight, n_classes: int, n_threads: int
) -> list[NDArray[np.float64]]: ...
def tally_numbers(
    values: NDArray[np.float64],
    labels: NDArray[np.int64],
    rounded: NDArray[np.bool_] | None,
    weight: Weight,
    level: int,
    most: int,
) -> tuple[int, NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]: ...
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
def log_tables(
    tables: list[Numbers],
    n_values: Sequence[int],
    n_classes: int,
    pseudo: Sequence[float],
    own: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def back_off_tables(
    tables: list[Numbers],
    shapes: Sequence[Sequence[int]],
    n_classes: int,
    grid: Sequence[float],
    root: float,
    left_out: int,
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def prefix_losses(
    columns: list[Numbers],
    y: Numbers,
    weight: Weight,
    n_class: Numbers,
    counts: Numbers,
    sizes: Sequence[int],
    families: Sequence[Sequence[int]],
    before: Sequence[int],
    class_pseudo: float,
    pseudo: Sequence[float],
    n_threads: int,
) -> tuple[NDArray[np.float64], list[int]]: ...
def super_parent_losses(
    columns: list[Numbers],
    y: Numbers,
    weight: Weight,
    n_value: Numbers,
    pairs: Numbers,
    sizes: Sequence[int],
    n_classes: int,
    pseudo: Sequence[float],
    parent_pseudo: Sequence[float],
    prior_counts: Numbers,
    prior_pseudo: Sequence[float],
    n_threads: int,
) -> NDArray[np.float64]: ...
def conditional_information(
    pairs: Numbers, sizes: Sequence[int], n_classes: int, all: float, n_threads: int
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
PLANNABLE: float
SMALL_TREE: float

class InferencePlan:
    @property
    def strategy(self) -> str: ...
    @property
    def entries(self) -> float: ...
    @property
    def largest(self) -> float: ...
    @property
    def log2_entries(self) -> float: ...
    @property
    def log2_largest(self) -> float: ...
    @property
    def stored(self) -> float: ...
    @property
    def cost(self) -> float: ...
    @property
    def largest_vars(self) -> list[int]: ...
    def marginals(
        self,
        hard: list[int],
        states: list[int],
        soft: list[int],
        likelihoods: list[NDArray[np.float64]],
        wide: bool = False,
    ) -> tuple[Any, float]: ...
    def joint(
        self,
        hard: list[int],
        states: list[int],
        soft: list[int],
        likelihoods: list[NDArray[np.float64]],
        wide: bool = False,
    ) -> tuple[Any, float]: ...
    def maximum(
        self,
        hard: list[int],
        states: list[int],
        soft: list[int],
        likelihoods: list[NDArray[np.float64]],
        wide: bool = False,
    ) -> tuple[Any, float]: ...

class InferenceEngine:
    def __init__(self, cards: list[int], parents: list[list[int]], tables: list[NDArray[np.float64]]) -> None: ...
    def compile_quick(self) -> None: ...
    def compile(self, tries: int, work: int, seed: int) -> None: ...
    @property
    def entries(self) -> float: ...
    def marginals(self, hard: list[int]) -> InferencePlan: ...
    def joint(self, targets: list[int], hard: list[int], soft: list[int], with_evidence: bool) -> InferencePlan: ...
    def maximum(self, sought: list[int], hard: list[int], soft: list[int]) -> InferencePlan: ...

class RowPosterior:
    def __init__(self, engine: InferenceEngine, targets: list[int], column_vars: list[int]) -> None: ...
    @property
    def stored(self) -> float: ...
    @property
    def cost(self) -> float: ...
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
        n_rows: int,
        seed: int,
        n_threads: int,
    ) -> tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    def gibbs(
        self,
        hard: list[int],
        states: list[int],
        soft: list[int],
        likelihoods: list[NDArray[np.float64]],
        first: int,
        lengths: list[int],
        burn_in: int,
        n_batches: int,
        seed: int,
        n_threads: int,
    ) -> NDArray[np.float64]: ...

def triangulate(
    cards: list[int], scopes: list[list[int]], stage: list[int], tries: int, work: int, seed: int
) -> tuple[list[int], list[list[int]], list[int], float, float]: ...
def plan_two_layers(
    n_diseases: int, n_findings: int, disease: list[int], finding: list[int], tries: int, seed: int
) -> tuple[list[int], float, int]: ...
def posterior_two_layers(
    prior: list[float],
    leak: list[float],
    disease: list[int],
    finding: list[int],
    chance: list[float],
    order: list[int],
    budget: float,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]: ...

class TextReader:
    def __init__(
        self,
        unit: int,
        punctuation: bool,
        pairs: bool,
        min_n: int,
        max_n: int,
        fold: bool,
        function: object,
        buckets: int,
        seed: int,
    ) -> None: ...
    def tokens(self, text: str) -> list[str]: ...
    def spans(self, text: str) -> list[tuple[str, int, int]]: ...

class TokenCounter:
    def __init__(self, reader: TextReader, weighted: bool, n_classes: int) -> None: ...
    def count(
        self,
        documents: list[str],
        y: NDArray[Any],
        weight: Weight,
        n_classes: int,
        tf: bool = ...,
        idf: NDArray[np.float64] | None = ...,
        idf_of_others: float = ...,
        length: bool = ...,
    ) -> int: ...
    def absorb(
        self,
        bytes: NDArray[Any],
        offsets: NDArray[Any],
        indptr: NDArray[Any],
        classes: NDArray[Any],
        n_token: NDArray[Any],
        n_document: NDArray[Any],
        n_classes: int,
        sign: int,
    ) -> int: ...
    def arrays(
        self, rank: Sequence[int]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]: ...
    @property
    def n_class(self) -> NDArray[np.float64]: ...
    @property
    def n_words(self) -> int: ...

class TokenScorer:
    def __init__(
        self,
        reader: TextReader,
        bytes: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        row: NDArray[np.float64],
        column: NDArray[np.float64],
        scale: NDArray[np.float64],
        indptr: NDArray[np.int64],
        classes: NDArray[np.int64],
        cells: NDArray[np.float64],
        bias: NDArray[np.float64],
        others: NDArray[np.float64] | None,
        binary: bool,
    ) -> None: ...
    def score(
        self, documents: list[str], wanted: Score, fallback: bool, log_prior: Sequence[float], n_threads: int
    ) -> tuple[NDArray[Any], int]: ...
    def vectors(
        self, documents: list[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64]]: ...
    def find(self, tokens: list[str]) -> NDArray[np.int64]: ...
    def rows(self, words: NDArray[np.int64]) -> NDArray[np.float64]: ...

class LinearScorer:
    def __init__(self, table: NDArray[np.float64], bias: NDArray[np.float64]) -> None: ...
    def score(
        self,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        wanted: Score,
        fallback: bool,
        log_prior: Sequence[float],
        n_threads: int,
    ) -> tuple[NDArray[Any], int]: ...

def count_sparse(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    y: NDArray[Any],
    weight: Weight,
    n_classes: int,
    n_features: int,
    binary: bool,
    threshold: float,
) -> NDArray[Any]: ...
def count_dense(
    array: NDArray[Any], y: NDArray[Any], weight: Weight, n_classes: int, binary: bool, threshold: float
) -> NDArray[Any]: ...
def grow_tree(
    codes: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    ordered: NDArray[np.int64],
    y: NDArray[np.uint32],
    weight: NDArray[np.float64] | None,
    n_classes: int,
    splits: int,
) -> dict[str, NDArray[Any]]: ...

class FamilyScores:
    def __init__(
        self,
        table: Table,
        weight: NDArray[np.float64] | None,
        cards: Sequence[int],
        score: str,
        sample_size: float,
        n_threads: int,
    ) -> None: ...
    @property
    def n_scored(self) -> int: ...
    @property
    def n_cached(self) -> int: ...
    @property
    def total(self) -> float: ...
    @property
    def any_missing(self) -> bool: ...
    def local(self, child: int, parents: Sequence[int]) -> float: ...
    def toggles(self, child: int, parents: Sequence[int], wanted: Sequence[int]) -> NDArray[np.float64]: ...
    def strongest(self, child: int, parents: Sequence[int], wanted: Sequence[int], most: int) -> list[int]: ...
    def strongest_pairs(
        self, child: int, parents: Sequence[int], wanted: Sequence[int], n_first: int
    ) -> list[list[int]]: ...
    def best_subsets(
        self, child: int, candidates: Sequence[int], required: Sequence[int], most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32]]: ...

class BestMoves:
    order: list[int]
    def __init__(
        self,
        scores: Any,
        candidates: Sequence[Sequence[int]],
        required: Sequence[Sequence[int]],
        max_parents: int,
        pairs: Sequence[Sequence[Sequence[int]]] = (),
    ) -> None: ...
    def sweep(self, variables: Sequence[int], seconds: float) -> int: ...
    def score(self) -> float: ...
    def parents(self) -> list[list[int]]: ...

class EquivalenceMoves:
    def __init__(
        self,
        scores: Any,
        start: Sequence[Sequence[int]],
        allowed: Sequence[Sequence[int]],
        required: Sequence[Sequence[int]],
        max_parents: int,
    ) -> None: ...
    def step(self) -> tuple[Literal["delete", "turn", "insert", ""], float]: ...
    def score(self) -> float: ...
    def parents(self) -> list[list[int]]: ...
    def marks(self) -> list[list[int]]: ...

def best_sinks(best: list[NDArray[np.float64]], n: int) -> NDArray[np.uint8]: ...

class IndependenceTests:
    def __init__(self, table: Table, weight: NDArray[np.float64] | None, cards: Sequence[int], test: str) -> None: ...
    @property
    def n_tests(self) -> int: ...
    def test(self, x: int, y: int, given: Sequence[int]) -> tuple[float, float, float]: ...
    def level(
        self,
        pairs: Sequence[Sequence[int]],
        left: Sequence[Sequence[int]],
        right: Sequence[Sequence[int]],
        size: int,
        alpha: float,
        n_threads: int,
    ) -> list[tuple[bool, list[int], float]]: ...

def chi_squared_tail(x: float, df: float) -> float: ...

class ExpectedCounts:
    def __init__(
        self,
        cards: Sequence[int],
        parents: Sequence[Sequence[int]],
        table: Table,
        weight: NDArray[np.float64] | None,
        limit: float,
    ) -> None: ...
    @property
    def with_holes(self) -> list[bool]: ...
    @property
    def n_cells(self) -> int: ...
    @property
    def n_items(self) -> int: ...
    @property
    def n_components(self) -> int: ...
    def complete(self) -> NDArray[np.float64]: ...
    def expect(self, tables: NDArray[np.float64], n_threads: int) -> tuple[NDArray[np.float64], float, int]: ...
    def complete_rows(self, tables: NDArray[np.float64], seed: int) -> list[NDArray[np.uint32]]: ...

class GaussianMixtureRows:
    n_patterns: int
    def __init__(self, table: Table, centre: NDArray[np.float64], weight: NDArray[np.float64] | None) -> None: ...
    def expect(
        self,
        log_weight: NDArray[np.float64],
        mean: NDArray[np.float64],
        spread: NDArray[np.float64],
        hard: bool,
        n_threads: int,
        scatter: bool = True,
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.float64] | None,
        NDArray[np.float64],
        NDArray[np.float64],
        float,
        int,
        int,
    ]: ...
    def score(
        self,
        log_weight: NDArray[np.float64],
        mean: NDArray[np.float64],
        spread: NDArray[np.float64],
        wanted: Score,
        n_threads: int,
    ) -> tuple[NDArray[Any], int, int]: ...

class LatentClassRows:
    def __init__(
        self,
        coded: list[Numbers],
        sizes: Sequence[int],
        numeric: list[Numbers],
        centre: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
    ) -> None: ...
    def expect(
        self,
        log_weight: NDArray[np.float64],
        tables: NDArray[np.float64],
        mean: NDArray[np.float64],
        variance: NDArray[np.float64],
        n_threads: int,
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        float,
        int,
    ]: ...
    def score(
        self,
        log_weight: NDArray[np.float64],
        tables: NDArray[np.float64],
        mean: NDArray[np.float64],
        variance: NDArray[np.float64],
        wanted: Score,
        n_threads: int,
    ) -> tuple[NDArray[Any], int]: ...

Bytes = NDArray[np.uint8]
Doubles = NDArray[np.float64]

def group_rows(
    columns: list[NDArray[Any]], y: NDArray[np.uint32], weight: Doubles | None, with_groups: bool, n_threads: int
) -> tuple[NDArray[np.int32], Doubles, NDArray[np.int64]]: ...
def content_hashes(
    columns: list[NDArray[Any]],
    order: NDArray[np.int32],
    y: NDArray[np.uint32],
    weight: Doubles,
    n_values: NDArray[np.int64],
    n_classes: int,
    n_rounds: int,
    n_threads: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]: ...
def cut_numbers(
    columns: list[NDArray[Any]], order: NDArray[np.int32], weight: Doubles, most_bins: int, n_threads: int
) -> list[Doubles]: ...
def scale_numbers(
    columns: list[NDArray[Any]], order: NDArray[np.int32], weight: Doubles, most_points: int, n_threads: int
) -> tuple[Doubles, Doubles, Doubles, NDArray[np.int64]]: ...

class LevelEncoder:
    def __init__(self, edges: list[Doubles], places: list[Bytes], ordered: NDArray[np.bool_]) -> None: ...
    def encode(
        self, columns: list[NDArray[Any]] | NDArray[Any], order: NDArray[np.int32] | None, n_threads: int
    ) -> tuple[Bytes, bool]: ...

def pair_gains(
    codes: Bytes,
    y: NDArray[np.uint32],
    weight: Doubles,
    n_classes: int,
    level_at: NDArray[np.int64],
    bins: Bytes,
    sizes: NDArray[np.int32],
    candidates: NDArray[np.int32],
    n_threads: int,
) -> Doubles: ...
def grow_contexts(
    codes: Bytes,
    weight: Doubles,
    level_at: NDArray[np.int64],
    bins: Bytes,
    sizes: NDArray[np.int32],
    parents: NDArray[np.int32],
    least: Doubles,
    most_nodes: int,
    n_threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]: ...

class EvidenceNetworks:
    def __init__(
        self,
        level_at: NDArray[np.int64],
        bins: Bytes,
        sizes: NDArray[np.int32],
        parents: NDArray[np.int32],
        n_nodes: NDArray[np.int32],
        child: NDArray[np.int32],
        child_at: NDArray[np.int64],
    ) -> None: ...
    @property
    def n_values(self) -> int: ...
    def count(
        self, codes: Bytes, y: NDArray[np.uint32], weight: Doubles, n_classes: int, n_threads: int, parity: int = -1
    ) -> Doubles: ...
    def choose_back_off(self, cells: Doubles, grid: Doubles, n_threads: int) -> Doubles: ...
    def leave_one_out(
        self,
        cells: Doubles,
        m: Doubles,
        codes: Bytes,
        y: NDArray[np.uint32],
        own: Doubles,
        group: NDArray[np.int32],
        n_groups: int,
        n_threads: int,
        parity: int = -1,
    ) -> NDArray[np.float32]: ...
    def log_tables(self, cells: NDArray[Any], m: Doubles, n_threads: int) -> NDArray[np.float32]: ...
    def score(self, tables: NDArray[np.float32], codes: Bytes, feature_weight: Doubles, n_threads: int) -> Doubles: ...
    def score_each(self, tables: NDArray[np.float32], codes: Bytes, n_threads: int) -> Doubles: ...
    def terms(self, tables: NDArray[np.float32], codes: Bytes, n_threads: int) -> Doubles: ...

def grow_context_trees(
    codes: Bytes,
    y: NDArray[np.uint32],
    weight: Doubles,
    n_classes: int,
    level_at: NDArray[np.int64],
    ordered: Bytes,
    seed: int,
    first_tree: int,
    n_trees: int,
    share: float,
    n_tests: int,
    most_leaves: int,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Bytes, NDArray[np.uint32], NDArray[np.int32]]: ...

class ContextTrees:
    def __init__(
        self,
        level_at: NDArray[np.int64],
        tree_at: NDArray[np.int64],
        feature: NDArray[np.int32],
        test: Bytes,
        value: NDArray[np.uint32],
        next: NDArray[np.int32],
    ) -> None: ...
    @property
    def n_leaves(self) -> int: ...
    def count(
        self, codes: Bytes, y: NDArray[np.uint32], weight: Doubles, n_classes: int, n_threads: int
    ) -> Doubles: ...
    def leave_one_out(
        self,
        cells: Doubles,
        m: Doubles,
        ends: NDArray[np.int64],
        codes: Bytes,
        y: NDArray[np.uint32],
        own: Doubles,
        ids: NDArray[np.int64],
        seed: int,
        first_tree: int,
        share: float,
        n_threads: int,
    ) -> Doubles: ...
    def leaf_tables(self, cells: NDArray[Any], m: float, n_threads: int) -> NDArray[np.float32]: ...
    def node_weights(self, cells: NDArray[Any], n_threads: int) -> Doubles: ...
    def score(self, tables: NDArray[np.float32], node_weight: Doubles, codes: Bytes, n_threads: int) -> Doubles: ...

class BoostedTrees:
    def __init__(
        self,
        codes: Bytes,
        y: NDArray[np.uint32],
        weight: Doubles,
        scores: Doubles,
        part: Bytes,
        n_parts: int,
        level_at: NDArray[np.int64],
        ordered: Bytes,
        seed: int,
        rate: float,
        most_leaves: int,
        ridge: float,
        least_curve: float,
        row_share: float,
        n_columns: int,
    ) -> None: ...
    def grow(self, n_rounds: int, n_threads: int) -> Doubles: ...
    def left_out(self, n_rounds: int, n_threads: int) -> Doubles: ...
    def trees(
        self, n_rounds: int, n_threads: int
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.int32],
        Bytes,
        NDArray[np.uint32],
        NDArray[np.int32],
        NDArray[np.float32],
        Doubles,
    ]: ...

def gaussian_rows(
    numbers: list[NDArray[Any]] | NDArray[Any],
    order: NDArray[np.int32] | None,
    codes: Bytes,
    first: int,
    last: int,
    features: NDArray[np.int64],
    level: NDArray[np.int64],
    median: Doubles,
    unit: Doubles,
    center: Doubles,
    scale: Doubles,
    curve_x: Doubles,
    curve_z: Doubles,
    curve_at: NDArray[np.int64],
    n_threads: int,
) -> Doubles: ...
def gaussian_sums(z: Doubles, y: NDArray[np.uint32], weight: Doubles, n_classes: int, n_threads: int) -> Doubles: ...
def gaussian_densities(
    z: Doubles,
    mean: Doubles,
    lower: Doubles,
    kappa: Doubles,
    df: Doubles,
    y: NDArray[np.uint32] | None,
    own: Doubles | None,
    center: Doubles | None,
    pooled: Doubles | None,
    n_threads: int,
) -> Doubles: ...
def pool_loss(
    scores: NDArray[np.float32], y: NDArray[np.uint32], weight: Doubles, parameters: Doubles, n_threads: int
) -> tuple[float, Doubles]: ...
def fit_pool(
    scores: NDArray[np.float32],
    y: NDArray[np.uint32],
    weight: Doubles,
    around: Doubles,
    penalty: float,
    start: Doubles,
    tolerance: float,
    n_threads: int,
) -> Doubles: ...
def log_softmax(scores: Doubles, least: float, n_threads: int) -> Doubles: ...
def pool_members(
    members: list[Doubles], w: Doubles, b: Doubles, matrix: Doubles, centre: NDArray[np.bool_], n_threads: int
) -> Doubles: ...
def pool_log_posterior(scores: NDArray[np.float32], w: Doubles, b: Doubles, n_threads: int) -> Doubles: ...
def fit_class_matrix(
    z: Doubles, y: NDArray[np.uint32], weight: Doubles, penalty: float, tolerance: float, n_threads: int
) -> Doubles: ...
def forward_backward(
    log_density: NDArray[np.float64],
    starts: NDArray[np.int64],
    log_start: NDArray[np.float64],
    log_step: NDArray[np.float64],
    log_before: NDArray[np.float64] | None,
    log_after: NDArray[np.float64] | None,
    smooth: bool,
    n_threads: int,
    count: bool = True,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    int,
]: ...
def viterbi(
    log_density: NDArray[np.float64],
    starts: NDArray[np.int64],
    log_start: NDArray[np.float64],
    log_step: NDArray[np.float64],
    before: NDArray[np.float64] | None,
    path: NDArray[np.int32] | None,
    end_state: int,
    last: NDArray[np.float64],
    log_probability: NDArray[np.float64],
    n_threads: int,
) -> tuple[int, int]: ...
def expected_values(codes: NDArray[Any], share: NDArray[np.float64], sums: NDArray[np.float64]) -> None: ...
def expected_moments(
    x: NDArray[np.float64], share: NDArray[np.float64], centre: NDArray[np.float64], sums: NDArray[np.float64]
) -> None: ...
