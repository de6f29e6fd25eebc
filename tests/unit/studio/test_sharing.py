"""Scenarios, cases of a table and what is given to others, in a real browser; every number is the library's."""

import json
from urllib.parse import parse_qs

import pytest

import bayeskit
from bayeskit import datasets
from tests.unit.cli.browser import require_chromium

require_chromium(whole_module=True)

ASIA = datasets.load_asia()
BARS = """() => Object.fromEntries([...document.querySelectorAll('.state-row')].map(row =>
    [row.closest('.node').dataset.name + '=' + row.dataset.state,
     new DOMMatrix(row.querySelector('.bar-value').style.transform).a]))"""


@pytest.fixture
def asia(served):
    return served.client.post("/examples/asia").json()["id"]


def test_scenarios_stand_side_by_side_with_differences_and_are_in_the_address(page_of, served, asia):
    page = page_of(f"#doc={asia}&target=lung&given=" + json.dumps({"smoke": "yes"}))
    page.wait_for_selector(".chip")
    page.click('button:has-text("Pin")')
    page.click('[data-name="xray"] [data-state="yes"]')
    smoke = ASIA.posterior("lung", given={"smoke": "yes"})["yes"]
    both = ASIA.posterior("lung", given={"smoke": "yes", "xray": "yes"})["yes"]
    difference = f"{100 * (smoke - both):+.1f}".replace("-", "−")
    page.wait_for_function(
        "text => document.querySelector('.scenarios tbody tr').innerText.includes(text)", arg=difference
    )
    row = page.inner_text(".scenarios tbody tr")
    assert f"{100 * both:.1f} %" in row
    assert f"{100 * smoke:.1f} %" in row
    pins = json.loads(parse_qs(page.url.split("#")[1])["pins"][0])
    assert pins == [{"given": {"smoke": "yes"}, "do": {}}]
    again = page.context.new_page()
    again.complaints = []
    again.goto(page.url)
    again.reload()
    again.wait_for_function(
        "text => document.querySelector('.scenarios tbody tr')?.innerText.includes(text)", arg=difference
    )


def test_rows_of_a_table_are_stepped_through_as_evidence(page_of, served, asia):
    rows = "asia,smoke,xray,colour\nno,yes,no,red\nyes,no,maybe,blue\n"
    table = served.open("cases.csv", rows.encode())
    page = page_of(f"#doc={asia}&target=lung")
    page.select_option('.panel select[aria-label="of"]', table)
    page.click('[aria-label="Next case"]')
    page.wait_for_function("() => document.querySelectorAll('.chip').length === 3")
    page.click('[aria-label="Next case"]')
    page.wait_for_selector("text=Not states of the network, left out: xray = maybe.")
    page.wait_for_function("() => document.querySelectorAll('.seen li').length === 2")
    p = ASIA.posterior("lung", given={"asia": "no", "smoke": "yes", "xray": "no"}).array.max()
    assert page.inner_text(".seen li:last-child .value") == f"no {100 * p:.1f} %"
    page.click('[aria-label="Next case"]')  # there is no third
    page.wait_for_timeout(300)
    assert page.input_value(".row-number") == "2"
    served.client.delete(f"/documents/{table}")


def test_a_page_without_a_server_answers_a_click_as_the_library_does(page_of, asia, tmp_path):
    page = page_of(f"#doc={asia}&given=" + json.dumps({"smoke": "yes"}))
    page.wait_for_selector(".chip")
    for button, name in (("SVG", "asia.svg"), ("PNG", "asia.png"), ("Page that answers clicks", "asia.html")):
        with page.expect_download() as download:
            page.click(f'button:text-is("{button}")')
        assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
    assert (tmp_path / "asia.png").read_bytes()[:4] == b"\x89PNG"
    alone = page.context.new_page()
    alone.complaints = []
    alone.on("pageerror", lambda error: alone.complaints.append(str(error)))
    for given in ({"smoke": "yes"}, {"smoke": "yes", "xray": "no"}, {"smoke": "yes"}):
        if alone.url == "about:blank":
            alone.goto((tmp_path / "asia.html").as_uri())
        else:
            alone.click('[data-name="xray"] [data-state="no"] .hit')
        wanted = ASIA.posterior(given=given)
        assert alone.inner_text("#given") == ", ".join(f"{name} = {state}" for name, state in given.items())
        for label, share in alone.evaluate(BARS).items():
            name, state = label.split("=")
            assert share == pytest.approx(wanted[name][state], abs=2e-6)
    svg = page.context.new_page()
    svg.complaints = []
    svg.goto((tmp_path / "asia.svg").as_uri())
    assert svg.evaluate("document.querySelectorAll('.node').length") == 8


def test_a_search_that_finds_nothing_says_so(page_of, asia):
    page = page_of(f"#doc={asia}")
    page.wait_for_selector(".bar-value")
    page.fill('input[type="search"]', "zzz")
    page.press('input[type="search"]', "Enter")
    message = page.eval_on_selector('input[type="search"]', "field => field.validationMessage")
    assert message == "No variable has “zzz” in its name."


def test_costs_of_a_classifier_are_in_the_address(page_of, served):
    table = served.client.post("/examples/heart").json()["id"]
    with served.client.stream(
        "POST", f"/tables/{table}/train", json={"target": "disease", "models": ["NaiveBayes"]}
    ) as said:
        id = json.loads(list(said.iter_lines())[-1])["done"]["classifier"]["id"]
    page = page_of(f"#doc={id}")
    page.fill('[aria-label="yes → no"]', "20")
    page.wait_for_function("() => location.hash.includes('loss')")
    again = page.context.new_page()
    again.complaints = []
    again.goto(page.url)
    again.reload()
    again.wait_for_selector(".decision")
    assert again.input_value('[aria-label="yes → no"]') == "20"


def test_the_problems_of_a_table_are_shown_as_the_library_says_them(page_of, served, tmp_path):
    rows = "id,country,colour,y\n" + "".join(f"{k},x,{'ab'[k % 2]},{'no' if k % 3 else 'yes'}\n" for k in range(60))
    (tmp_path / "t.csv").write_text(rows)
    wanted = [str(each) for each in bayeskit.read(tmp_path / "t.csv").problems]
    assert wanted
    page = page_of(f"#doc={served.open('t.csv', rows.encode())}")
    page.wait_for_selector(".problems li")
    assert sorted(page.locator(".problems li").all_inner_texts()) == sorted(wanted)
