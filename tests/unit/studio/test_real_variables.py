"""Real variables on the page: densities as the library gives them, numbers and readings as evidence."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from bayeskit import BayesianNetwork
from bayeskit.network import ConditionalGaussian, LinearGaussian
from tests.unit.cli.browser import require_chromium


@pytest.fixture(scope="module")
def people():
    return BayesianNetwork(
        [("sex", "height"), ("height", "weight")],
        states={"sex": ["f", "m"]},
        tables={
            "sex": [0.5, 0.5],
            "height": ConditionalGaussian({"f": LinearGaussian(mean=166, sd=6), "m": LinearGaussian(mean=179, sd=7)}),
            "weight": LinearGaussian(mean=-90, sd=8, height=0.95),
        },
    )


@pytest.fixture
def base(served, people, tmp_path):
    people.save(tmp_path / "people.bayes")
    return f"/networks/{served.open('people.bayes', (tmp_path / 'people.bayes').read_bytes())}"


def test_densities_are_mixtures_of_normals(served, base):
    found = served.ask(f"{base}/posterior").json()["real"]["height"]
    at = np.array(found["at"])
    assert_allclose(found["density"], 0.5 * norm.pdf(at, 166, 6) + 0.5 * norm.pdf(at, 179, 7), rtol=1e-12)
    assert found["mean"] == pytest.approx(172.5, rel=1e-14)
    assert not found["moved"]


def test_a_number_and_a_reading_are_evidence(served, base):
    known = served.ask(f"{base}/posterior", given={"height": 170}).json()
    f, m = norm.pdf(170, 166, 6), norm.pdf(170, 179, 7)
    assert_allclose(known["p"]["sex"], [f / (f + m), m / (f + m)], rtol=1e-12)
    assert known["real"]["height"]["at"] == [170.0]
    read = served.ask(f"{base}/posterior", given={"height": {"mean": 170, "sd": 3}}).json()
    f, m = norm.pdf(170, 166, 45**0.5), norm.pdf(170, 179, 58**0.5)
    assert_allclose(read["p"]["sex"], [f / (f + m), m / (f + m)], rtol=1e-12)
    acted = served.ask(f"{base}/posterior", do={"height": 170}).json()
    assert_allclose(acted["p"]["sex"], [0.5, 0.5])
    assert acted["real"]["weight"]["mean"] == pytest.approx(-90 + 0.95 * 170, rel=1e-12)


def test_the_equation_of_a_real_variable_stands_for_its_table(served, base):
    said = served.ask(f"{base}/table", variable="height").json()["equation"]
    assert said == "sex = f: Normal(166.0, sd 6)\nsex = m: Normal(179.0, sd 7)"


@pytest.mark.parametrize("given", [{"height": "tall"}, {"height": {"mean": 1}}, {"height": {"mean": 1, "sd": -1}}])
def test_what_is_no_number_is_refused(served, base, given):
    answer = served.ask(f"{base}/posterior", given=given)
    assert answer.status_code in (400, 422)
    assert "Traceback" not in json.dumps(answer.json())


def test_a_density_is_drawn_and_follows_a_number_typed_in_the_card(page_of, base, people):
    require_chromium()
    page = page_of(f"#doc={base.rpartition('/')[2]}")
    page.wait_for_selector('[data-name="height"] .density:not(.before)')
    assert page.locator('[data-name="height"] .mean').text_content() == "172.5 ± 9.21"
    page.click('[data-name="weight"] .name')
    page.fill(".soft input", "80")
    page.click(".soft .primary")
    answer = people.posterior("height", given={"weight": 80})
    said = f"{answer.mean:.4g} ± {answer.sd:.3g}"
    page.wait_for_function("said => document.querySelector('[data-name=height] .mean').textContent === said", arg=said)
    assert page.locator('[data-name="weight"] .mean').text_content() == "= 80"
    page.reload()
    page.wait_for_selector(".chip")
    assert page.locator(".chip").inner_text() == "weight = 80"
