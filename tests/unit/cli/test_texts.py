"""The command on texts: train, predict and explain, from a file and from a folder."""

import io
import json
import sys

import pytest

pytest.importorskip("typer", reason="the command's extra is not installed")
from bayeskit.cli.app import run
from texts import LABELS, TEXTS

EVENT_MODELS = ["-m", "multinomial", "-m", "bernoulli", "-m", "complement"]


@pytest.fixture
def news(tmp_path):
    path = tmp_path / "news.jsonl"
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS * 2, LABELS * 2, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def model(news, tmp_path, capsys):
    place = tmp_path / "news.bayes"
    assert run(["train", str(news), "--text", "text", "--target", "label", *EVENT_MODELS, "-o", str(place)]) == 0
    assert "20 documents, 2 classes, 18 different words" in capsys.readouterr().out
    return place


def test_the_classifiers_are_compared_on_documents_held_out(news, tmp_path, capsys):
    place = tmp_path / "news.bayes"
    assert run(["train", str(news), "--text", "text", "-o", str(place), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["documents"], found["held_out"], found["words"]) == (20, 4, 18)
    assert {score["model"] for score in found["scores"]} == {"AutoText", "multinomial", "bernoulli", "complement"}
    best = [score["accuracy"] for score in found["scores"]]
    assert best == sorted(best, reverse=True)
    assert best[0] == 1.0


def test_the_model_is_that_of_all_documents(model):
    from bayeskit import TextClassifier, load

    found = load(model)
    whole = TextClassifier(model=found.model).fit(TEXTS * 2, LABELS * 2)
    assert abs(found.predict_proba(TEXTS) - whole.predict_proba(TEXTS)).max() < 1e-12


def test_the_automatic_classifier_is_fitted_on_all_documents_shown_evaluated_and_explained(news, tmp_path, capsys):
    from bayeskit import AutoText, load

    place = tmp_path / "auto.bayes"
    assert run(["train", str(news), "--text", "text", "-m", "AutoText", "-o", str(place)]) == 0
    assert "AutoText(), learned from all documents" in capsys.readouterr().out
    whole = AutoText().fit(TEXTS * 2, LABELS * 2)
    assert abs(load(place).predict_proba(TEXTS) - whole.predict_proba(TEXTS)).max() < 1e-12
    assert run(["show", str(place)]) == 0
    assert "politics (12 documents)" in capsys.readouterr().out
    assert run(["explain", str(place), str(news), "--row", "4"]) == 0
    assert "log-odds of sport over politics" in capsys.readouterr().out


def test_a_folder_of_folders(tmp_path, capsys):
    for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        (tmp_path / "tree" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / label / f"{i}.txt").write_text(text)
    place = tmp_path / "m.bayes"
    assert run(["train", str(tmp_path / "tree"), "-m", "complement", "-o", str(place)]) == 0
    assert "model='complement'" in capsys.readouterr().out


def test_predictions_are_written(model, news, tmp_path, capsys):
    out = tmp_path / "classes.csv"
    assert run(["predict", str(model), str(news), "-o", str(out)]) == 0
    lines = out.read_text().splitlines()
    assert lines[0].replace('"', "") == "class,P(politics),P(sport)"
    assert [line.split(",")[0].strip('"') for line in lines[1:]] == LABELS * 2


def test_explanations_show_the_words_in_the_text(model, news, capsys, monkeypatch):
    assert run(["explain", str(model), str(news), "--row", "4"]) == 0
    assert "goal⁺ after⁺ goal⁺" in capsys.readouterr().out
    assert run(["explain", str(model), str(news), "-k", "2", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a great vote")))
    assert run(["explain", str(model), "-"]) == 0
    assert "vote⁺" in capsys.readouterr().out
    assert run(["explain", str(model), str(news), "--row", "99"]) == 1
    assert "there is no document 99" in capsys.readouterr().err


def test_what_does_not_fit_texts_is_refused(model, news, capsys):
    assert run(["predict", str(model), str(news), "--keep", "label"]) == 2
    assert run(["train", str(news)]) == 2
    assert "--target" in capsys.readouterr().err
    assert run(["train", str(news), "--text", "text", "-m", "AODE"]) == 1
    assert "'AODE' is not a classifier of text" in capsys.readouterr().err


@pytest.fixture
def parts(tmp_path):
    """The same documents in a folder of three files, of three formats."""
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    folder = tmp_path / "parts"
    folder.mkdir()
    table = pa.table({"text": TEXTS * 2, "label": LABELS * 2})
    csv.write_csv(table.slice(0, 7), folder / "a.csv")
    pq.write_table(table.slice(7, 7), folder / "b.parquet")
    (folder / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.slice(14).to_pylist()))
    return folder


@pytest.mark.parametrize("how", ["folder", "glob", "files"])
def test_several_files_of_texts_are_one(how, parts, model, tmp_path, capsys):
    files = {"folder": [parts], "glob": [parts / "*"], "files": sorted(parts.iterdir())}[how]
    place, out = tmp_path / "many.bayes", tmp_path / "many.jsonl"
    assert run(["train", *map(str, files), "--text", "text", "--target", "label", *EVENT_MODELS, "-o", str(place)]) == 0
    assert "3 files: 20 documents, 2 classes, 18 different words" in capsys.readouterr().out
    assert run(["predict", str(place), *map(str, files), "--text", "text", "-o", str(out)]) == 0
    one = tmp_path / "one.jsonl"
    assert run(["predict", str(model), str(tmp_path / "news.jsonl"), "-o", str(one)]) == 0
    assert out.read_text() == one.read_text()


def test_files_of_texts_whose_columns_differ_are_refused_by_name(parts, tmp_path, capsys):
    (parts / "d.csv").write_text("body,label\nhello,spam\n")
    assert run(["train", str(parts), "--text", "text", "-t", "label", "-o", str(tmp_path / "x.bayes")]) != 0
    said = capsys.readouterr().err
    assert "d.csv" in said
    assert "a.csv" in said
    assert "'text'" in said


def test_a_file_of_texts_that_a_glob_names_is_not_overwritten(parts, model, capsys):
    assert run(["predict", str(model), str(parts / "*"), "--text", "text", "-o", str(parts / "c.jsonl")]) != 0
    assert "c.jsonl" in capsys.readouterr().err
    assert len((parts / "c.jsonl").read_text().splitlines()) == 6


def test_what_is_not_built_for_texts_is_refused_by_name(model, news, tmp_path, capsys):
    assert run(["evaluate", str(model), str(news), "--decimal", ","]) == 2
    assert "--decimal: this is for tables" in " ".join(capsys.readouterr().err.split())
    assert run(["train", str(news), "--text", "text", "--target", "text", "-o", str(tmp_path / "x.bayes")]) != 0
    assert "both name 'text'" in " ".join(capsys.readouterr().err.split())
    one = tmp_path / "one.jsonl"
    one.write_text('{"text": "a b", "label": "x"}\n' * 10)
    assert run(["train", str(one), "--text", "text", "--target", "label", "-o", str(tmp_path / "x.bayes")]) == 1
    assert "a classifier needs at least two" in " ".join(capsys.readouterr().err.split())


def test_a_text_model_is_evaluated_as_scikit_learn_does(model, news, tmp_path, capsys):
    from sklearn.metrics import accuracy_score, log_loss

    from bayeskit import load

    other = tmp_path / "other.jsonl"
    rows = [{"body": t, "truth": label} for t, label in zip(TEXTS, LABELS[1:] + LABELS[:1], strict=True)]
    other.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["evaluate", str(model), str(other), "--text", "body", "--target", "truth", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    classifier, y = load(model), [row["truth"] for row in rows]
    assert said["documents"] == len(TEXTS)
    assert said["error"]["value"] == pytest.approx(1 - accuracy_score(y, classifier.predict(TEXTS)), abs=1e-12)
    assert said["log_loss"]["value"] == pytest.approx(log_loss(y, classifier.predict_proba(TEXTS)), abs=1e-9)
    assert sum(map(sum, said["confusion"])) == len(TEXTS)
    assert run(["evaluate", str(model), str(news)]) == 0
    assert "20 documents" in capsys.readouterr().out
    other.write_text('{"text": "a goal", "label": "weather"}\n')
    assert run(["evaluate", str(model), str(other)]) == 1
    assert "document 1: 'weather' is not a class of the model" in " ".join(capsys.readouterr().err.split())


def test_the_report_of_texts_says_what_flatters_and_shows_the_surest_mistakes(tmp_path, capsys):
    rows = [{"text": f"{t} {i}", "label": label} for i in range(6) for t, label in zip(TEXTS, LABELS, strict=True)]
    rows[9]["label"] = "sport" if rows[9]["label"] == "politics" else "politics"  # every fifth is held out
    rows[4]["text"] = rows[0]["text"].upper()
    rows[14]["text"] = "<script>alert(1)</script> " + rows[14]["text"]
    path, place = tmp_path / "news.jsonl", tmp_path / "news.bayes"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["train", str(path), "--text", "text", "-m", "multinomial", "-o", str(place)]) == 0
    printed = capsys.readouterr()
    assert "1 held-out document stands word for word" in printed.err
    page = place.with_suffix(".html").read_text()
    assert "held-out document 2:" in page  # the tenth of all, whose label is wrong
    assert "<script>" not in page
    for heading in ("Leaderboard", "Confusion matrix", "The most telling words", "Length and error", "Model card"):
        assert heading in page
    assert run(["train", str(path), "--text", "text", "--no-report", "-o", str(tmp_path / "b.bayes")]) == 0
    assert not (tmp_path / "b.html").exists()


def test_two_text_models_are_compared_document_by_document(model, news, tmp_path, capsys):
    from sklearn.metrics import log_loss

    from bayeskit import load

    second = tmp_path / "second.bayes"
    assert run(["train", str(news), "--text", "text", "-m", "AutoText", "--no-report", "-o", str(second)]) == 0
    capsys.readouterr()
    assert run(["compare", str(model), str(second), str(news), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    losses = [log_loss(LABELS * 2, load(place).predict_proba(TEXTS * 2)) for place in (model, second)]
    assert said["documents"] == 20
    assert said["log_loss"]["difference"][0] == pytest.approx(losses[1] - losses[0], abs=1e-9)
    assert run(["compare", str(model), str(second), str(news)]) == 0
    assert "20 documents" in capsys.readouterr().out


def test_documents_without_a_label_are_refused_in_python_and_left_out_and_said_by_the_command(news, tmp_path, capsys):
    import bayeskit

    gaps = tmp_path / "gaps.jsonl"
    gaps.write_text(news.read_text() + '{"text": "who knows", "label": null}\n{"text": "nobody"}\n')
    with pytest.raises(bayeskit.errors.TableError, match=r"line 21: .*bayeskit\.drop_unlabeled\(read_texts\(…\)\)"):
        bayeskit.TextClassifier().fit(bayeskit.read_texts(gaps))
    source = bayeskit.drop_unlabeled(bayeskit.read_texts(gaps))
    assert bayeskit.TextClassifier().fit(source).counts_.n_class.sum() == 20
    assert run(["train", str(gaps), *EVENT_MODELS, "--text", "text", "-o", str(tmp_path / "gaps.bayes")]) == 0
    said = capsys.readouterr().out
    assert "20 documents" in said
    assert "2 documents without a value of 'label' left out." in said


@pytest.mark.parametrize(
    "option",
    [
        *(["--group", "g"], ["--kind", "text=numeric"], ["--ignore", "label"], ["--calibrate"], ["--reject", "0.1"]),
        *(["--time", "t"], ["--folds", "3"], ["--test", "more.csv"], ["--missing", "x"], ["--delimiter", ";"]),
        *(["--states", "3"], ["--decimal", ","], ["--loss", "costs.csv"]),
    ],
    ids=" ".join,
)
def test_an_option_that_texts_do_not_take_is_refused_by_name(news, tmp_path, capsys, option):
    place = tmp_path / "news.bayes"
    assert run(["train", str(news), "--text", "text", "--target", "label", *option, "-o", str(place)]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert option[0] in said
    assert "it is not used with texts" in said
    assert not place.exists()


def test_predictions_of_no_document_are_a_header_as_those_of_no_row_are(model, tmp_path, capsys):
    (tmp_path / "none.csv").write_text("text\n")
    place = tmp_path / "out.csv"
    assert run(["predict", str(model), str(tmp_path / "none.csv"), "--text", "text", "-o", str(place)]) == 0
    header = place.read_text()
    assert len(header.splitlines()) == 1
    (tmp_path / "some.csv").write_text("text\nhello\n")
    assert run(["predict", str(model), str(tmp_path / "some.csv"), "--text", "text", "-o", str(place), "--force"]) == 0
    assert place.read_text().splitlines()[0] == header.splitlines()[0]


def test_a_text_model_knows_the_names_of_its_columns(tmp_path, capsys):
    path, place = tmp_path / "v.jsonl", tmp_path / "v.bayes"
    rows = [{"review": t, "stars": len(label)} for t, label in zip(TEXTS * 2, LABELS * 2, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["--text", "review", "--target", "stars", "-m", "multinomial", "--no-report"]
    assert run(["train", str(path), *arguments, "-o", str(place)]) == 0
    assert run(["predict", str(place), str(path), "-o", str(tmp_path / "out.csv")]) == 0
    assert run(["explain", str(place), str(path), "--row", "4"]) == 0
    capsys.readouterr()
    # The same labels as text, and two documents without one, which are left out and said.
    other = tmp_path / "w.csv"
    lines = [f'"{row["review"]}",{row["stars"]}' for row in rows]
    other.write_text("\n".join(["review,stars", *lines, "who knows,", "nobody,"]) + "\n")
    assert run(["evaluate", str(place), str(other)]) == 0
    assert "20 documents, 2 without a value of 'stars' left out" in capsys.readouterr().out


def test_mailboxes_are_texts_without_saying_so(tmp_path, capsys):
    for label, words in (("spam", "cheap pills"), ("ham", "lunch at noon")):
        message = f"From x Mon Jan  1 00:00:00 2024\nSubject: {words}\n\n{words} {{}}\n\n"
        (tmp_path / f"{label}.mbox").write_text("".join(message.format(i) for i in range(10)))
    files = [str(tmp_path / "spam.mbox"), str(tmp_path / "ham.mbox")]
    assert run(["train", *files, "-o", str(tmp_path / "mail.bayes"), "--no-report"]) == 0
    assert "20 documents, 2 classes" in capsys.readouterr().out


def test_the_report_compares_with_the_largest_class_on_the_same_documents(tmp_path, capsys):
    # Six of ten are politics, but of the held-out fifth and tenth only one is.
    labels = [
        "politics",
        "sport",
        "politics",
        "politics",
        "sport",
        "politics",
        "sport",
        "politics",
        "sport",
        "politics",
    ]
    rows = [{"text": f"{label} w{i}", "label": label} for i, label in enumerate(labels)]
    path, place = tmp_path / "t.jsonl", tmp_path / "t.bayes"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["train", str(path), "--text", "text", "-m", "multinomial", "-o", str(place)]) == 0
    page = place.with_suffix(".html").read_text()
    assert "<b>50.0 %</b><span>would be wrong if the largest class were always predicted" in page
    assert "<b>0 %</b><span>of documents are predicted wrong" in page
