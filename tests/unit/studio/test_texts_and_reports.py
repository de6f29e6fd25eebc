"""Text models, and the report of a network: as the library gives them."""

import re

import pytest

from bayeskit import TextClassifier, datasets
from tests.unit.cli.browser import require_chromium

TEXTS = ["good fine film", "bad awful film", "good great", "bad poor", "fine great"]
LABELS = ["pos", "neg", "pos", "neg", "pos"]


@pytest.fixture(scope="module")
def model():
    return TextClassifier().fit(TEXTS, LABELS)


@pytest.fixture
def texts(served, model, tmp_path):
    model.save(tmp_path / "text.bayes")
    return served.open("text.bayes", (tmp_path / "text.bayes").read_bytes())


def test_a_text_is_classified_and_its_words_weighed_as_the_library_does(served, texts, model):
    text = "A good film, not bad"
    found = served.ask(f"/classifiers/{texts}/explain", row={"text": text}).json()
    assert found["posterior"] == pytest.approx(model.predict_proba([text])[0].tolist(), abs=1e-12)
    assert "".join(piece["text"] for piece in found["marked"]) == text
    weights = {piece["text"]: piece["weight"] for piece in found["marked"] if piece["weight"]}
    said = {word.token: word.weight for word in model.explain(text).words if word.used}
    assert weights == pytest.approx(said, abs=1e-12)
    nothing = served.ask(f"/classifiers/{texts}/explain", row={}).json()
    assert nothing["posterior"] == pytest.approx(model.class_prior_.tolist(), abs=1e-12)


def test_a_typed_text_is_marked_on_the_page(page_of, texts, model):
    require_chromium()
    page = page_of(f"#doc={texts}")
    page.fill("textarea", "good film")
    page.wait_for_selector("mark")
    assert page.locator(".marked-text").text_content() == "good film"
    assert page.locator(".decision").inner_text() == model.predict(["good film"])[0]


def test_the_report_of_a_network_is_that_of_the_library(served, tmp_path):
    id = served.client.post("/examples/asia").json()["id"]
    given = {"smoke": "yes"}
    html = served.ask(f"/networks/{id}/report", given=given, target="lung").json()["html"]
    expected = datasets.load_asia().report(tmp_path / "asia.html", given=given, target="lung").read_text("utf-8")
    ids = r"\b[pm][0-9a-f]{10}\b"  # matplotlib's names of paths are random
    assert re.sub(ids, "", html) == re.sub(ids, "", expected)
