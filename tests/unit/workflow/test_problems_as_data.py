"""Problems of a table as plain data, which a page shows."""

import json

import bayeskit
from bayeskit.workflow.data_problems import problems_as_data


def test_planted_problems_come_as_json_with_the_gravest_first_and_the_arguments_that_settle_them():
    n = 60
    labels = ["yes", "no"] * (n // 2)
    columns = {"same": ["x"] * n, "copy": labels, "age": [20 + k % 17 for k in range(n)], "y": labels}
    table = bayeskit.read(columns, "y")
    data = json.loads(json.dumps(problems_as_data(table.problems)))
    severities = [item["severity"] for item in data]
    assert severities == sorted(severities, key=["warning", "note"].index)
    constant = next(item for item in data if item["code"] == "constant")
    assert constant["columns"] == ["same"]
    assert constant["arguments"] == "ignore=['same']"
    # The arguments do what they say: the problem is gone.
    settled = bayeskit.read(columns, "y", ignore=[value for name, value in constant["options"] if name == "ignore"])
    assert "constant" not in [item["code"] for item in problems_as_data(settled.problems)]
