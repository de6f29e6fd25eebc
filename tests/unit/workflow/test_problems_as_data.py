"""Problems of a table as plain data, which a page shows."""

import json

import bayeskit
from bayeskit.language import language
from bayeskit.workflow.data_problems import in_full, in_short, problems_as_data
from bayeskit.workflow.wording import clauses


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


def test_problems_are_said_in_chinese_with_names_and_cells_as_they_are():
    ordered = ["low", "medium", "high"] * 40
    table = bayeskit.read({"in one": ["a b"] * 120, "such as": ["a b"] * 120, "risk": ordered}, None)
    problem = next(problem for problem in table.problems if problem.code == "constant")
    english = "columns 'in one', 'such as': the same value in all 120 rows, such as 'a b' in 'in one'"
    assert in_short(problem) == english
    assert in_full(problem).startswith(f"{english}. Such a column cannot tell classes apart. What to do: ")
    with language("zh"):
        said = in_full(problem)
        reason = clauses(next(note.why for note in table.columns if note.name == "risk"))
    names = "列 'in one', 'such as'：全部120 行都是同一个值，如 'a b' in 'in one'。"
    assert said == f"{names}这样的列不能区分类别。怎么办：去掉它，或查明为什么不变。"
    assert reason == "有序类别，共 3 个取值；按次序：low, medium, high"
