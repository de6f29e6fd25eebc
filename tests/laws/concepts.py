"""Small spaces of conjunctions and examples in them, for laws that brute force checks."""

from hypothesis import strategies as st

from bayeskit.concept import ConjunctionSpace, Hierarchy, Range, Values

SHAPES = {"round": ["circle", "ellipse"], "straight": {"four": ["square", "kite"], "three": ["triangle"]}}
LEAVES = ["circle", "ellipse", "square", "kite", "triangle"]


@st.composite
def attributes(draw):
    """One attribute, and the values that its cells may hold."""
    kind = draw(st.sampled_from(["values", "range", "hierarchy"]))
    if kind == "values":
        values = [f"v{k}" for k in range(draw(st.integers(1, 3)))]
        return Values(values), values
    if kind == "range":
        levels = list(range(0, 2 * draw(st.integers(1, 4)), 2))
        return Range(levels), levels
    return Hierarchy(SHAPES), LEAVES


@st.composite
def spaces(draw, most=3):
    """A space over up to ``most`` attributes, and a strategy for its rows, some cells missing."""
    pairs = draw(st.lists(attributes(), min_size=1, max_size=most))
    names = [f"a{j}" for j in range(len(pairs))]
    cells = [st.one_of(st.sampled_from(values), st.sampled_from(values), st.none()) for _, values in pairs]
    return ConjunctionSpace(dict(zip(names, [a for a, _ in pairs], strict=True))), st.tuples(*cells)


@st.composite
def samples(draw, consistent=None):
    """A space, rows and labels; labels come from a conjunction, or from a coin."""
    space, row = draw(spaces())
    rows = draw(st.lists(row, min_size=1, max_size=8))
    known = [any(r[j] is not None for r in rows) for j in range(len(space.names))]
    rows = rows if all(known) else [*rows, tuple(next(iter(_values(p))) for p in space.parts)]
    if consistent if consistent is not None else draw(st.booleans()):
        concept = space.conjunction(draw(st.integers(0, space.size - 1)))
        labels = [concept.covers(r) for r in rows]
    else:
        labels = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    return space, rows, labels


def _values(part):
    return part.levels if isinstance(part, Range) else part.values


def as_table(space, rows):
    """Return the rows as a dict of columns."""
    return {name: [row[j] for row in rows] for j, name in enumerate(space.names)}
