"""A dynamic network on the page: slices side by side, whose posteriors are those of the interface algorithm."""

from itertools import pairwise

import pytest
from numpy.testing import assert_allclose

from bayeskit import DynamicNetwork
from bayeskit.studio.documents import Documents

ROWS = {"umbrella": ["yes", "yes", "no", "yes"]}


@pytest.fixture(scope="module")
def umbrella():
    """Russell and Norvig's umbrella world."""
    tables = {"rain[0]": [0.5, 0.5], "rain[t]": [[0.7, 0.3], [0.3, 0.7]], "umbrella[t]": [[0.8, 0.2], [0.1, 0.9]]}
    return DynamicNetwork("rain[t-1]->rain[t]; rain[t]->umbrella[t]", tables=tables)


@pytest.fixture
def base(served, umbrella, tmp_path):
    umbrella.save(tmp_path / "umbrella.bayes")
    return f"/networks/{served.open('umbrella.bayes', (tmp_path / 'umbrella.bayes').read_bytes())}"


def test_slices_stand_in_the_order_of_time_and_one_variable_in_a_row(served, base):
    look = served.client.get(base.replace("networks", "documents")).json()["look"]
    rain = [look[f"rain[{t}]"]["at"] for t in range(8)]
    assert all(a[0] < b[0] and a[1] == b[1] for a, b in pairwise(rain))
    assert look["umbrella[3]"]["at"][0] == rain[3][0]
    assert look["umbrella[3]"]["at"][1] != rain[3][1]


def test_rows_of_a_table_are_slices_and_what_follows_is_smoothed_and_forecast(served, base, umbrella):
    text = "\n".join(["umbrella", *ROWS["umbrella"]])
    table = served.open("days.csv", text.encode())
    case = served.ask(f"{base}/case", table=table, number=1).json()
    assert case["given"] == {f"umbrella[{t}]": state for t, state in enumerate(ROWS["umbrella"])}
    p = served.ask(f"{base}/posterior", given=case["given"]).json()["p"]
    assert_allclose([p[f"rain[{t}]"][1] for t in range(4)], umbrella.smooth(ROWS).of("rain", "yes"), rtol=1e-10)
    forecast = umbrella.forecast(ROWS, steps=3).of("rain", "yes")
    assert_allclose([p[f"rain[{t}]"][1] for t in range(4, 7)], forecast, rtol=1e-10)
    later = served.ask(f"{base}/case", table=table, number=3).json()
    assert later["given"] == {"umbrella[0]": "no", "umbrella[1]": "yes"}


def test_the_file_of_a_dynamic_network_is_not_overwritten_by_its_slices(umbrella, tmp_path):
    umbrella.save(tmp_path / "umbrella.bayes")
    studio = Documents()
    document = studio.open(tmp_path / "umbrella.bayes", savable=True)
    assert not document.savable
    studio.close_all()
