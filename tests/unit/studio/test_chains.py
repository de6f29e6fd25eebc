"""A hidden Markov model on the page: rows that are pasted or uploaded, and their states over time."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import HiddenMarkov
from tests.unit.cli.browser import require_chromium

DAYS = [f"2024-03-{day:02d}" for day in range(1, 7)]
HEAT = [36.5, 36.7, 39.1, 38.8, 39.2, 36.6]
TEXT = "patient,day,heat\n" + "".join(f"p,{day},{heat}\n" for day, heat in zip(DAYS, HEAT, strict=True))


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    states = np.repeat(["well", "ill", "well"], [6, 5, 4])
    heat = np.where(states == "ill", 39.0, 36.6) + rng.normal(0, 0.4, len(states))
    days = {
        "patient": ["a"] * 15,
        "day": np.arange("2024-01-01", "2024-01-16", dtype="datetime64[D]"),
        "heat": heat,
        "stage": states,
    }
    return HiddenMarkov(step="1 day").fit(days, group="patient", time="day", target="stage")


@pytest.fixture
def chain(served, model, tmp_path):
    model.save(tmp_path / "stage.bayes")
    return served.open("stage.bayes", (tmp_path / "stage.bayes").read_bytes())


def test_bands_are_the_posterior_of_the_library_and_the_strip_is_its_path(served, chain, model):
    schema = served.ask(f"/chains/{chain}/schema").json()
    assert (schema["target"], schema["states"], schema["columns"]) == ("stage", ["ill", "well"], ["heat"])
    (one,) = served.ask(f"/chains/{chain}/bands", text=TEXT).json()["sequences"]
    rows = {"patient": ["p"] * 6, "day": np.array(DAYS, dtype="datetime64[D]"), "heat": HEAT}
    assert_allclose(one["p"], model.smooth(rows), atol=1e-12)
    assert one["path"] == model.decode(rows).tolist() == ["well", "well", "ill", "ill", "ill", "well"]
    assert one["times"] == DAYS


def test_a_day_without_a_row_has_a_band_and_sequences_are_drawn_one_by_one(served, chain, model):
    gap = "".join(line for line in TEXT.splitlines(keepends=True) if "03-04" not in line)
    (one,) = served.ask(f"/chains/{chain}/bands", text=gap).json()["sequences"]
    assert one["times"] == DAYS
    whole = [*HEAT[:3], np.nan, *HEAT[4:]]
    rows = {"patient": ["p"] * 6, "day": np.array(DAYS, dtype="datetime64[D]"), "heat": whole}
    assert_allclose(one["p"], model.smooth(rows), atol=1e-12)
    two = TEXT + TEXT.split("\n", 1)[1].replace("p,", "q,")
    found = served.ask(f"/chains/{chain}/bands", text=two).json()["sequences"]
    assert [each["name"] for each in found] == ["p", "q"]
    assert found[0]["p"] == found[1]["p"]


def test_rows_that_do_not_fit_are_refused_by_name(served, chain):
    answer = served.ask(f"/chains/{chain}/bands", text="patient,day,cough\np,2024-03-01,yes\n")
    assert answer.status_code == 422
    assert "heat" in answer.text


def test_pasted_and_uploaded_rows_are_drawn_over_time(page_of, chain, tmp_path):
    require_chromium()
    page = page_of(f"#doc={chain}")
    page.fill("textarea", TEXT)
    page.click("button.primary")
    page.wait_for_selector(".band svg")
    strip = page.eval_on_selector_all(".band rect", "all => all.map(each => each.dataset.state)")
    assert strip == ["well", "well", "ill", "ill", "ill", "well"]
    page.hover(".band svg")
    said = page.locator(".band [role=status]").inner_text()
    assert said.startswith("2024-03-04: ill 9")
    assert said.endswith("→ ill")
    if os.environ.get("BAYESKIT_SHOT"):
        page.screenshot(path=os.environ["BAYESKIT_SHOT"])
    (tmp_path / "two.csv").write_text(TEXT + TEXT.split("\n", 1)[1].replace("p,", "q,"))
    page.set_input_files("input[type=file][accept*=csv]", str(tmp_path / "two.csv"))
    page.wait_for_function("() => document.querySelectorAll('.band svg').length === 2")


def test_the_page_speaks_chinese(page_of, chain):
    require_chromium()
    page = page_of(f"#doc={chain}", locale="zh-CN")
    page.fill("textarea", TEXT)
    page.click("button.primary")
    page.wait_for_selector(".band svg")
    assert page.locator(".bands h2").inner_text() == "随时间变化的状态"
