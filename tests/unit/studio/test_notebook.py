"""The widget: the same views, with the kernel in place of the server."""

import json

import pytest

from bayeskit import NaiveBayes, datasets
from bayeskit.errors import BayeskitError
from bayeskit.studio.notebook import answer, bundle, style

ASIA = datasets.load_asia()

# A notebook in a few lines: the widget's model sends messages to Python and keeps traits.
NOTEBOOK = """async ([esm, css, traits]) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [sheet];
  const heard = {};
  window.traits = traits;
  const model = {
    get: (name) => traits[name],
    set: (name, value) => { traits[name] = value; },
    save_changes: () => {},
    on: (name, act) => { heard[name] = act; },
    send: async (message) => heard["msg:custom"](JSON.parse(await window.python(JSON.stringify(message)))),
  };
  window.model = model;
  window.heard = heard;
  const host = document.createElement("div");
  document.body.append(host);
  const widget = (await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })))).default;
  widget.render({ model, el: host });
}"""
TRAITS = {"name": "x", "given": {}, "actions": {}, "target": "", "row": {}}


def notebook(browser, subject):
    page = browser.new_page(locale="en-GB", viewport={"width": 1100, "height": 700})
    page.goto("about:blank")
    page.expose_function("python", lambda message: json.dumps(answer(subject, json.loads(message))))
    page.evaluate(NOTEBOOK, [bundle(), style(), {**TRAITS, "kind": subject[0]}])
    return page


def test_a_click_in_the_widget_is_evidence_that_python_reads(browser):
    page = notebook(browser, ("network", ASIA))
    page.wait_for_selector(".bar-value")
    page.click('[data-name="smoke"] [data-state="yes"]')
    page.wait_for_function("() => window.traits.given.smoke === 'yes'")
    wanted = ASIA.posterior("bronc", given={"smoke": "yes"})["yes"]
    bar = """p => Math.abs(
        new DOMMatrix(document.querySelector('[data-name="bronc"] .bar-value').style.transform).a - p) < 1e-5"""
    page.wait_for_function(bar, arg=wanted)
    page.evaluate("() => { window.traits.given = {}; window.heard['change:given'](); }")
    page.wait_for_function(bar, arg=ASIA.posterior("bronc")["yes"])
    page.close()


def test_a_case_of_a_classifier_is_read_by_python(browser):
    from bayeskit.workflow.trained import TrainedModel

    model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    page = notebook(browser, ("classifier", TrainedModel(model)))
    page.wait_for_selector(".decision")
    page.locator(".form-grid select").first.select_option(label="sunny")
    page.wait_for_function("() => window.traits.row.outlook === 'sunny'")
    page.wait_for_function("() => document.querySelectorAll('.waterfall li').length === 3")
    page.close()


def test_explore_makes_a_widget_that_answers_messages():
    pytest.importorskip("anywidget", reason="anywidget is not installed (pip install 'bayeskit[notebook]')")
    widget = ASIA.explore()
    sent = []
    widget.send = sent.append
    widget._handle_custom_msg({"id": 1, "question": "posterior", "body": {"given": {"smoke": "yes"}}}, [])
    assert json.loads(sent[0]["answer"])["p"]["bronc"] == ASIA.posterior("bronc", given={"smoke": "yes"}).array.tolist()
    widget._handle_custom_msg({"id": 2, "question": "posterior", "body": {"given": {"smoke": "maybe"}}}, [])
    assert "maybe" in sent[1]["error"]["what"]
    model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    assert model.explore().kind == "classifier"
    widget.close()


def test_explore_refuses_what_it_has_no_view_for():
    from bayeskit import explore

    with pytest.raises(BayeskitError, match="networks and fitted classifiers; got dict"):
        explore({})


def test_the_widget_answers_no_other_question():
    for question in ("change", "save", "train", "nothing"):
        assert "no question" in answer(("network", ASIA), {"id": 1, "question": question, "body": {}})["error"]["what"]
