"""Hypothesis strategies: small mixed tables with missing cells, and their labels."""

from hypothesis import strategies as st

KINDS = {"grade": "categorical", "visits": "poisson", "member": "bernoulli"}
COLUMNS = {
    "colour": st.sampled_from(["red", "green", "blue", "", "深い", None]),
    "grade": st.sampled_from([1, 2, 2.5, 7, None]),
    "paid": st.sampled_from([True, False, None]),
    "member": st.sampled_from([0, 1, None]),
    "visits": st.sampled_from([0, 1, 2, 9, None]),
    "height": st.floats(-100, 100, width=16) | st.none(),
}


@st.composite
def tables(draw, min_rows=1, max_rows=14, columns=tuple(COLUMNS), labels=("no", "yes", "maybe")):
    """A dict of lists, and a list of labels."""
    n_rows = draw(st.integers(min_rows, max_rows))
    table = {name: draw(st.lists(COLUMNS[name], min_size=n_rows, max_size=n_rows)) for name in columns}
    return table, draw(st.lists(st.sampled_from(labels), min_size=n_rows, max_size=n_rows))


def rows(table, chosen):
    """Some rows of a dict of lists."""
    return {name: [values[i] for i in chosen] for name, values in table.items()}


def known_somewhere(table):
    """Whether each column has a value in some row, so that no warning is due."""
    return all(any(value is not None for value in values) for values in table.values())
