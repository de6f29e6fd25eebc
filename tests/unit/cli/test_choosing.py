"""What `train` chooses by, what it says when nothing is worth choosing, and what it prints in narrow terminals."""

import csv
import io
import json

import numpy as np
import pytest

import bayeskit
import bayeskit.datasets
from bayeskit import datasets
from bayeskit.cli.app import run
from bayeskit.cli.verb_demo_data import BUNDLED


def loaded(bundled):
    return getattr(bayeskit.datasets, bundled.loader)()


def is_network(bundled):
    return not isinstance(loaded(bundled), dict)


@pytest.fixture
def noise(tmp_path, monkeypatch):
    """A table that tells nothing about its target."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [f"{rng.choice(list('abc'))},{rng.normal():.3f},{'yes' if rng.random() < 0.3 else 'no'}" for _ in range(300)]
    (tmp_path / "noise.csv").write_text("x,z,y\n" + "\n".join(rows) + "\n")
    return tmp_path


def told(capsys, *arguments):
    capsys.readouterr()
    assert run(list(arguments)) == 0
    return capsys.readouterr()


def test_a_classifier_that_learned_the_class_frequencies_alone_does_not_beat_them(tmp_path, monkeypatch, capsys):
    # No cut of such columns gains anything, so that the models are P(c) with their smoothing: lower by 1e-5.
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{int(c < 0.3)}\n" for a, b, c in rng.random((200, 3))]
    (tmp_path / "noise.csv").write_text("a,b,y\n" + "".join(rows))
    assert run(["train", "noise.csv", "-t", "y", "-m", "TAN", "-m", "AODE", "--no-report", "--json"]) == 0
    said = capsys.readouterr()
    assert "no classifier beats the majority class by log-loss" in said.err
    assert json.loads(said.out)["beats_majority"] is False


def test_that_nothing_beats_the_majority_class_is_said_on_the_screen_in_the_report_and_in_json(noise, capsys):
    options = ["train", "noise.csv", "-t", "y", "-m", "NaiveBayes", "-m", "TAN"]
    words = "no classifier beats the majority class by log-loss"
    assert f"Warning: {words}" in told(capsys, *options).err
    assert 'class="alarm">N' + words[1:] in (noise / "noise-y.html").read_text()
    said = told(capsys, *options, "--json")
    assert json.loads(said.out)["beats_majority"] is False
    assert words in said.err


def test_few_rows_are_said_to_be_too_few_to_tell_whether_the_columns_say_anything(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    days = datasets.load_tennis()
    rows = [
        "outlook,temperature,humidity,wind,play",
        *map(",".join, zip(*(map(str, c) for c in days.values()), strict=True)),
    ]
    (tmp_path / "days.csv").write_text("\n".join(rows))
    said = told(capsys, "train", "days.csv", "-t", "play", "-m", "NaiveBayes", "-m", "AODE", "--no-report").err
    assert "14 rows are too few to tell whether the columns say anything about 'play'" in said
    assert "no information" not in said


def test_few_rows_are_too_few_also_where_the_best_model_stays_near_the_class_frequencies(tmp_path, monkeypatch, capsys):
    # Fifteen rows, of which naive Bayes misses fewer than the majority class; the best log-loss is that of AutoBayes,
    # which differs from the class frequencies by little in every row.
    monkeypatch.chdir(tmp_path)
    columns = datasets.load_fifteen()
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "fifteen.csv").write_text("\n".join(lines))
    said = told(capsys, "train", "fifteen.csv", "-t", "Y", "--no-report").err
    assert "15 rows are too few to tell whether the columns say anything about 'Y'" in said
    assert "no information" not in said


def test_many_rows_without_information_are_said_to_hold_none(noise, capsys):
    said = told(capsys, "train", "noise.csv", "-t", "y", "-m", "NaiveBayes", "-m", "TAN", "--no-report").err
    assert "The columns hold no information about 'y' that generalises to held-out rows" in said


def test_a_kind_that_a_classifier_does_not_take_is_said(heart, capsys):
    options = ["train", "heart.csv", "-t", "disease", "--kind", "age=poisson", "--no-report"]
    assert "column 'age': AODE does not take the kind 'poisson'" in told(capsys, *options, "-m", "AODE").err
    assert told(capsys, *options, "-m", "NaiveBayes").err == ""


def test_a_model_that_beats_it_raises_no_alarm(heart, capsys):
    said = told(capsys, "train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", "--json")
    assert json.loads(said.out)["beats_majority"] is True
    assert said.err == ""
    assert 'class="alarm"' not in (heart / "heart-disease.html").read_text()


@pytest.mark.parametrize(
    ("options", "by"),
    [
        ([], "log_loss"),
        (["--by", "error"], "error"),
        (["--by", "brier"], "brier"),
        (["--reject", "0.2"], "mean_loss"),
        (["--reject", "0.2", "--by", "log-loss"], "log_loss"),
    ],
)
def test_the_score_that_decides_orders_the_leaderboard(heart, capsys, options, by):
    found = json.loads(told(capsys, "train", "heart.csv", "-t", "disease", "--no-report", "--json", *options).out)
    values = [trial[by]["value"] for trial in found["leaderboard"]]
    assert found["by"] == by
    assert values == sorted(values)


def test_deciding_by_loss_needs_a_loss_and_a_wrong_name_is_refused_before_the_file_is_read(heart, capsys):
    assert run(["train", "heart.csv", "-t", "disease", "--by", "loss"]) == 2
    assert run(["train", "no-such-file.csv", "-t", "disease", "-m", "NaivBayes"]) == 1
    assert "did you mean 'NaiveBayes'" in capsys.readouterr().err
    assert run(["train", "no-such-file.csv", "-t", "disease", "--folds", "group"]) == 2


def test_held_out_rows_are_scored_by_the_fitted_model(heart, capsys):
    lines = (heart / "heart.csv").read_text().splitlines(keepends=True)
    (heart / "a.csv").write_text("".join(lines[:200]))
    (heart / "b.csv").write_text("".join(lines[:1] + lines[200:]))
    options = ["train", "a.csv", "-t", "disease", "-o", "m.bayes", "-m", "TAN", "--test", "b.csv"]
    found = json.loads(told(capsys, *options, "--json").out)["test"]
    again = json.loads(told(capsys, "evaluate", "m.bayes", "b.csv", "--json").out)
    assert found["rows"] == again["rows"] == 104
    assert found["log_loss"] == again["log_loss"]
    assert "b.csv, 104 held-out rows: error 0." in told(capsys, *options).out
    assert "wrong among 104 held-out rows" in (heart / "m.html").read_text()


def test_what_fails_on_held_out_rows_comes_after_the_leaderboard_and_the_model(heart, capsys):
    text = (heart / "heart.csv").read_text()
    (heart / "new.csv").write_text(text.replace(",no\n", ",perhaps\n"))
    options = ["train", "heart.csv", "-t", "disease", "-o", "m.bayes", "-m", "NaiveBayes", "--no-report"]
    assert run([*options, "--test", "new.csv"]) == 1
    said = capsys.readouterr()
    assert "NaiveBayes  " in said.out
    assert "'new.csv', line 2: the class 'perhaps' was not seen in training" in said.err
    assert (heart / "m.bayes").exists()


def test_rows_that_are_learned_from_are_not_held_out_and_the_target_makes_no_groups(heart, capsys):
    (heart / "link.csv").symlink_to(heart / "heart.csv")
    options = ["train", "heart.csv", "-t", "disease", "-o", "m.bayes", "-m", "NaiveBayes"]
    assert run([*options, "--test", "link.csv"]) == 2
    assert "'link.csv' holds the rows to learn from" in " ".join(capsys.readouterr().err.split())
    assert run([*options, "--folds", "group:disease"]) == 2
    assert not (heart / "m.bayes").exists()


def test_folds_by_group_keep_groups_together_and_leave_their_column_out(heart, capsys):
    with open("heart.csv", newline="") as file:
        head, *rows = list(csv.reader(file))
    with open("g.csv", "w", newline="") as file:
        csv.writer(file).writerows([[*head, "doctor"], *([*row, f"d{i % 9}"] for i, row in enumerate(rows))])
    options = ["train", "g.csv", "-t", "disease", "-m", "NaiveBayes", "--no-report"]
    found = json.loads(told(capsys, *options, "--folds", "group:doctor:3", "--json").out)
    assert (found["folds"], found["folds_by"]) == (3, "group")
    assert next(note for note in found["columns"] if note["name"] == "doctor")["kind"] == "left out"
    assert "3-fold cross-validation, each doctor in one fold" in told(capsys, *options, "--folds", "group:doctor:3").out
    said = told(capsys, *options, "--folds", "time:age").out
    assert "5 stretches of time by age, each predicted from the rows before it" in said


def test_a_calibrated_model_predicts_what_its_leaderboard_promises(heart, capsys):
    options = ["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", "--no-report", "--json"]
    plain = json.loads(told(capsys, *options).out)
    found = json.loads(told(capsys, *options, "--calibrate", "-o", "c.bayes").out)
    assert found["temperature"] > 1.2  # naive Bayes is too sure
    assert found["leaderboard"][0]["log_loss"]["value"] < plain["leaderboard"][0]["log_loss"]["value"] - 0.03
    told(capsys, "predict", "heart-disease.bayes", "heart.csv", "-o", "plain.csv", "--digits", "17")
    told(capsys, "predict", "c.bayes", "heart.csv", "-o", "mild.csv", "--digits", "17")
    p, q = (np.genfromtxt(name, delimiter=",", skip_header=1, usecols=1) for name in ("plain.csv", "mild.csv"))
    odds = np.log(p / (1 - p)) / found["temperature"]
    np.testing.assert_allclose(q, 1 / (1 + np.exp(-odds)), rtol=1e-7)  # the files hold 17 places
    (row,) = json.loads(told(capsys, "explain", "c.bayes", "heart.csv", "--row", "5", "--json").out)
    total = row["prior_log_odds"] + sum(term["log_odds"] for term in row["evidence"])
    np.testing.assert_allclose(total, row["log_odds"], rtol=1e-9)
    np.testing.assert_allclose(row["probability"], 1 / (1 + np.exp(-total)), rtol=1e-9)


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_a_narrow_terminal_gets_fewer_columns_and_no_cut_cells(heart, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    said = told(capsys, "train", "heart.csv", "-t", "disease", "--no-report").out
    board = said[said.index("best log-loss first") :].splitlines()
    assert max(map(len, said.splitlines()[:-3])) <= int(columns) + 30  # sentences may be longer than tables
    lines = [line for line in board if "±" in line and "standard error" not in line]
    assert len(lines) == 9
    assert {line.split("  ")[0] for line in lines} >= {"NaiveBayes-MDL", "majority class"}
    assert all(len(line) <= int(columns) for line in lines)
    assert all(len(word.split(".")[1]) == 4 for line in lines for word in line.split() if "." in word)
    assert ("no room for predict" in said) == (columns != "120")


def test_long_names_are_told_apart_and_wide_characters_stand_in_line(capsys, monkeypatch):
    from rich.cells import cell_len

    from bayeskit.cli import screen

    monkeypatch.setenv("COLUMNS", "60")
    labels = ["mixed_cochlear_age_fixation", "mixed_cochlear_age_otitis", "红色"]
    screen.matrix(labels, labels, [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    head, *rows = capsys.readouterr().out.splitlines()[:4]
    names = [row.split()[0] for row in rows]
    assert len(set(names)) == 3
    assert names[0].startswith("mixed_")
    assert names[0].endswith("fixation")
    assert {cell_len(line) for line in (head, *rows)} == {cell_len(head)}


def test_of_very_many_classes_the_most_frequent_errors_are_listed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    labels = [f"c{k:02}" for k in range(40)]
    # The label of rows of c39 in the training table is that of c00 in the other, three times.
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"v{k},{label}\n" * 4 for k, label in enumerate(labels)))
    (tmp_path / "b.csv").write_text("x,y\nv0,c00\n" + "v39,c00\n" * 3 + "v38,c01\n")
    told(capsys, "train", "a.csv", "-t", "y", "-m", "NaiveBayes", "--no-report", "-o", "m.bayes")
    said = told(capsys, "evaluate", "m.bayes", "b.csv").out
    assert "40 classes have no room in a matrix; these are the most frequent errors." in said
    assert [line.split() for line in said.splitlines()[-2:]] == [["c00", "c39", "3"], ["c01", "c38", "1"]]


@pytest.mark.parametrize("columns", ["60", "100"])
@pytest.mark.parametrize("n_classes", [2, 7, 30])
def test_every_cell_of_a_confusion_matrix_is_on_the_screen(capsys, monkeypatch, n_classes, columns):
    from bayeskit.cli import screen

    monkeypatch.setenv("COLUMNS", columns)
    cells = np.random.default_rng(0).integers(1, 500, (n_classes, n_classes))
    labels = [f"class number {k}" for k in range(n_classes)]
    screen.matrix(labels, [*labels, "reject"], [[*row, 7] for row in cells.tolist()])
    said = capsys.readouterr().out
    found = {k: [] for k in range(n_classes)}
    for line in said.splitlines():
        for k, label in enumerate(labels):
            if line.startswith(f"{label} "):
                found[k] += [int(word) for word in line[len(label) :].split()[1:]]
    assert [found[k] for k in range(n_classes)] == [[*row, 7] for row in cells.tolist()]
    assert max(map(len, said.splitlines()[:-1])) <= int(columns)
    assert f"{n_classes + 1} = reject" in said


def test_of_six_hundred_columns_forty_are_printed_and_the_rest_counted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    names = [f"c{j}" for j in range(600)]
    cells = np.where(rng.random((60, 600)) < 0.4 + 0.2 * y[:, None], "a", "b")
    text = "\n".join(",".join([*row, str(k)]) for row, k in zip(cells, y, strict=True))
    (tmp_path / "wide.csv").write_text(",".join([*names, "y"]) + "\n" + text)
    said = told(capsys, "train", "wide.csv", "-t", "y").out
    assert sum(line.startswith("c") and "categorical" in line for line in said.splitlines()) == 40
    assert "and 561 columns more: 560 categorical, 1 target" in said
    assert "TAN not tried: 600 columns have 179700 pairs; with more than 500 it must be asked for by name." in said
    report = (tmp_path / "wide-y.html").read_text()
    assert "561 columns more not shown" in report
    assert "560 columns more not shown" in report
    shown = told(capsys, "show", "wide-y.bayes").out
    assert "  and 560 more" in shown


def test_a_report_that_fails_does_not_hide_the_leaderboard(heart, capsys, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device", "heart-disease.html")

    monkeypatch.setattr("bayeskit.workflow.report.page.write_report", fail)
    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes"]) == 1
    said = capsys.readouterr()
    assert "majority class" in said.out
    assert "model   heart-disease.bayes" in said.out
    assert "No space left" in said.err


def test_demo_data_writes_a_table_that_train_reads(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    assert run(["demo-data", "heart"]) == 0
    (tmp_path / "heart.csv").write_bytes(capfdbinary.readouterr().out)
    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", "--no-report"]) == 0
    assert run(["demo-data"]) == 0
    listed = capfdbinary.readouterr().out.decode()
    assert all(name in listed for name in BUNDLED)
    assert run(["demo-data", "hart"]) == 1
    assert b"did you mean 'heart'" in capfdbinary.readouterr().err


@pytest.mark.parametrize("name", [name for name, each in BUNDLED.items() if is_network(each)])
def test_every_bundled_network_is_read_back_as_it_is(name, tmp_path, capfdbinary):
    assert run(["demo-data", name]) == 0
    (tmp_path / "net.bif").write_bytes(capfdbinary.readouterr().out)
    assert bayeskit.BayesianNetwork.read(tmp_path / "net.bif").equals(loaded(BUNDLED[name]))


@pytest.mark.parametrize("name", [name for name, each in BUNDLED.items() if not is_network(each)])
def test_every_bundled_table_is_read_back_as_it_is(name, capfdbinary):
    data = loaded(BUNDLED[name])
    assert run(["demo-data", name]) == 0
    written = capfdbinary.readouterr().out
    rows = list(csv.reader(io.StringIO(written.decode())))
    assert rows[0] == list(data)
    assert BUNDLED[name].target in ("", *data)
    columns = [["" if cell is None or cell != cell else str(cell) for cell in cells] for cells in data.values()]
    assert [list(cells) for cells in zip(*rows[1:], strict=True)] == columns


def test_every_loader_of_the_datasets_has_a_name():
    assert {each.loader for each in BUNDLED.values()} == set(bayeskit.datasets.__all__)


def test_show_calls_a2de_by_its_name(heart, capsys):
    told(capsys, "train", "heart.csv", "-t", "disease", "-m", "A2DE", "--no-report")
    assert told(capsys, "show", "heart-disease.bayes").out.startswith("A2DE: 303 rows, 13 features, 2 classes")


def test_losses_that_do_not_fit_are_refused_in_the_name_of_their_file(trained, capsys):
    (trained / "costs.csv").write_text("truth,no,yes\nno,0,1\nmaybe,1,0\n")
    assert run(["predict", "heart-disease.bayes", "heart.csv", "--loss", "costs.csv"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Error: 'costs.csv': ")
    assert "frame" not in said
