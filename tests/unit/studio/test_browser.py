"""The page in a real browser."""

import json
import re
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from bayeskit import BayesianNetwork, datasets
from tests.unit.cli.browser import require_chromium

require_chromium(whole_module=True)

ASIA = datasets.load_asia()
HEART = Path(str(files("bayeskit.datasets").joinpath("data", "heart.csv")))
HOSTILE = '<img src=x onerror="window.bitten=1">'

DATA_ARCS = "all => all.map(each => each.dataset.arc)"
CLICK = """(all, arc) => all.find(each => each.dataset.arc === arc)
  .dispatchEvent(new MouseEvent("click", { bubbles: true }))"""
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def asia(served):
    return served.client.post("/examples/asia").json()["id"]


def shown(page):
    """The percentages that the boxes show, by variable and state."""
    script = """() => [...document.querySelectorAll(".state-row")].map(
      row => [row.closest(".node").dataset.name, row.dataset.state, row.querySelector(".p").textContent,
              new DOMMatrix(row.querySelector(".bar-value").style.transform).a])"""
    return page.evaluate(script)


def settled(page, evidence):
    """Wait until every bar stands at the posterior of the library, and say how many there are."""
    wanted = ASIA.posterior(given=evidence)
    chips = len(evidence)
    page.wait_for_function("n => document.querySelectorAll('.chip').length === n", arg=chips)
    page.wait_for_function("() => !document.querySelector('.busy:not([hidden])')")
    name, p = next((name, wanted[name].array[0]) for name in ASIA.names if 0.02 < wanted[name].array[0] < 0.98)
    page.wait_for_function(
        """([name, p]) => { const bar = document.querySelector(`[data-name="${name}"] .bar-value`);
        return bar && Math.abs(new DOMMatrix(bar.style.transform).a - p) < 1e-5 }""",
        arg=[name, float(p)],
    )
    bars = shown(page)
    for name, state, text, share in bars:
        assert abs(share - wanted[name][state]) < 1e-5, (name, state)
        assert text == f"{100 * wanted[name][state]:.1f} %" or text in ("<0.1 %", ">99.9 %")
    return len(bars)


def test_every_bar_of_asia_is_the_posterior_of_the_library_and_a_second_click_takes_evidence_back(page_of, asia):
    page = page_of(f"#doc={asia}")
    page.wait_for_selector(".bar-value")
    assert settled(page, {}) == 16
    page.click('[data-name="smoke"] [data-state="yes"]')
    settled(page, {"smoke": "yes"})
    page.click('[data-name="xray"] [data-state="yes"]')
    settled(page, {"smoke": "yes", "xray": "yes"})
    assert page.get_attribute('[data-name="xray"] [data-state="yes"]', "aria-pressed") == "true"
    page.click('[data-name="smoke"] [data-state="yes"]')
    settled(page, {"xray": "yes"})
    assert page.get_attribute('[data-name="smoke"] [data-state="yes"]', "aria-pressed") == "false"


def test_the_address_holds_the_evidence_and_not_the_token(page_of, served, asia):
    page = page_of(f"#doc={asia}")
    page.click('[data-name="smoke"] [data-state="yes"]')
    page.wait_for_selector(".chip")
    page.wait_for_function("() => location.hash.includes('smoke')")
    assert served.token not in page.url
    fragment = page.url.split("#")[1]
    assert json.loads(parse_qs(fragment)["given"][0]) == {"smoke": "yes"}
    again = page.context.new_page()
    again.complaints = []
    again.goto(f"{served.base}/#{fragment}")
    again.wait_for_selector('[data-name="smoke"] [data-state="yes"][aria-pressed="true"]')


def test_a_target_greys_what_it_has_nothing_to_do_with_and_gives_the_reason(page_of, asia):
    page = page_of(f"#doc={asia}&target=lung&given=%7B%22smoke%22%3A%22yes%22%7D")
    page.wait_for_selector('[data-name="bronc"].separated')
    grey = set(page.eval_on_selector_all(".separated", "all => all.map(each => each.dataset.name)"))
    assert grey == {n for n in ASIA.names if n not in ("smoke", "lung") and ASIA.d_separated("lung", n, ["smoke"])}
    page.click('[data-name="bronc"] .name')
    page.wait_for_selector("text=Every trail between them is blocked given smoke.")
    page.wait_for_selector(".tornado li")
    first = page.inner_text(".ranked li button")
    best = max(ASIA.questions("lung", given={"smoke": "yes"}), key=lambda each: each.information)
    assert first == best.variable


def test_sets_soft_evidence_and_actions_come_from_the_panel(page_of, asia):
    page = page_of(f"#doc={asia}")
    page.wait_for_selector(".bar-value")
    page.click('[data-name="smoke"] .name', button="right")
    page.click('.segments button:has-text("Do")')
    page.click('.state-button:has-text("yes")')
    page.wait_for_selector(".node.done")
    assert page.inner_text(".chip") == "do(smoke = yes)"
    page.click('[data-name="dysp"] .name')
    page.click('.segments button:has-text("Soft")')
    page.fill(".soft input >> nth=0", "3")
    page.click(".soft button")
    page.wait_for_function("() => document.querySelectorAll('.chip').length === 2")
    wanted = ASIA.do(smoke="yes").posterior("bronc", given={"dysp": {"yes": 3, "no": 1}})["yes"]
    page.wait_for_function(
        """p => Math.abs(new DOMMatrix(document.querySelector('[data-name="bronc"] .bar-value').style.transform).a - p)
        < 1e-5""",
        arg=wanted,
    )


def test_a_table_is_edited_with_its_row_kept_summing_to_1_and_undone(page_of, served):
    id = served.client.post("/examples/asia").json()["id"]
    page = page_of(f"#doc={id}")
    page.wait_for_selector(".bar-value")
    page.click('[data-name="smoke"] .name')
    page.click('.panel summary:has-text("Table")')
    page.fill(".cpt input >> nth=0", "1.9")
    page.click("text=Change the table")
    page.wait_for_selector("text=Row 1 sums to 2.4; it must sum to 1.")
    assert page.input_value(".cpt input >> nth=0") == "1.9"
    page.fill(".cpt input >> nth=0", "0.9")
    page.press(".cpt input >> nth=0", "Tab")
    assert page.input_value(".cpt input >> nth=1") == "0.1"
    page.click("text=Change the table")
    bar = """p => Math.abs(
        new DOMMatrix(document.querySelector('[data-name="smoke"] .bar-value')?.style.transform).a - p) < 1e-5"""
    page.wait_for_function(bar, arg=0.9)
    page.click('[aria-label="Undo"]')
    page.wait_for_function(bar, arg=0.5)


def test_names_from_a_file_are_never_html(page_of, served):
    net = BayesianNetwork(
        [("A", "B")],
        states={"A": ["</script><script>window.bitten=1</script>", "b"], "B": ["no", "yes"]},
        random_tables=1,
    ).rename({"B": HOSTILE})
    path = served.studio.documents.new_folder() / "hostile.bayes"
    net.save(path)
    page = page_of(f"#doc={served.open('hostile.bayes', path.read_bytes())}")
    page.wait_for_selector(".bar-value")
    page.locator(".node .name").nth(1).click()
    page.click("text=Make it the target")
    page.locator(".state-row").first.click()
    page.wait_for_selector(".chip")
    csv = (
        f'{HOSTILE.replace(chr(34), chr(39))},"<b>k</b>",y\n' + "<script>window.bitten=1</script>,b,no\nc,d,yes\n" * 20
    )
    page.evaluate(DROP, ["<i>x</i>.csv", csv])
    page.wait_for_selector("th:has-text('<b>k</b>')")
    assert page.evaluate("window.bitten") is None
    assert page.locator("#studio img:not([src='/static/icon.svg'])").count() == 0
    assert page.locator("#studio script, #studio b:not(.fact b):not(.note b):not(.alarm b)").count() == 0


def test_a_dropped_table_is_trained_and_the_decision_follows_the_loss(page_of):
    page = page_of()
    page.wait_for_selector("text=Drop a file here")
    page.evaluate(DROP, ["heart.csv", HEART.read_text()])
    page.wait_for_selector("th:has-text('chest_pain')")
    page.select_option(".toolbar select", "disease")
    page.wait_for_selector("tr.target")
    page.click('button:has-text("Train")')
    page.wait_for_selector("text=Try a case", timeout=90_000)
    assert page.locator(".board tr.best").count() == 1
    page.click("text=Try a case")
    page.wait_for_selector(".decision")
    page.fill(".row-number", "3")
    page.click("text=Load")
    page.wait_for_function("() => document.querySelectorAll('.filled').length === 13")
    page.wait_for_function("() => document.querySelectorAll('.waterfall li').length === 15")
    page.click("text=Clear all cells")
    page.wait_for_function("() => document.querySelectorAll('.waterfall li').length === 2")
    assert page.inner_text(".decision") == "no"
    page.fill('[aria-label="yes → no"]', "20")
    page.wait_for_function("() => document.querySelector('.decision')?.textContent === 'yes'")
    assert re.search(r"no: 0.0 % – 4.8 %, yes: 4.8 % – 100.0 %", page.inner_text(".panel"))


PASTE = """text => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
# As Excel and LibreOffice copy cells: tabs between them, quotes around one with a line break.
CELLS = 'Height, cm\tPrice, €\tnote\tsold\r\n1,5\t12\t"two\nlines"\tyes\r\n2,5\t7\tplain\tno\r\n3,5\t9\tplain\tyes\r\n'


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_cells_copied_from_a_spreadsheet_are_pasted_as_a_table(page_of, served, locale, tmp_path):
    name, start = {"en-GB": ("pasted table.tsv", "Paste a table"), "zh-CN": ("粘贴的表格.tsv", "粘贴表格")}[locale]
    page = page_of(locale=locale)
    page.wait_for_selector(f"button:has-text('{start}')")
    page.screenshot(path=tmp_path / "start.png")
    page.evaluate(PASTE, CELLS)
    page.wait_for_selector("th:has-text('Height, cm')")
    page.screenshot(path=tmp_path / "table.png")
    (made,) = [each for each in served.client.get("/documents").json() if each["name"] == name]
    found = served.ask(f"/tables/{made['id']}/columns").json()["columns"]
    assert [each["name"] for each in found] == ["Height, cm", "Price, €", "note", "sold"]
    served.client.delete(f"/documents/{made['id']}")


def test_the_button_pastes_the_clipboard_and_says_what_to_do_where_it_may_not(page_of, served):
    page = page_of()
    page.click("button:has-text('Paste a table')")  # without the permission
    page.wait_for_selector("text=press Ctrl+V")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=served.base)
    page.evaluate("text => navigator.clipboard.writeText(text)", "")
    page.click("button:has-text('Paste a table')")
    page.wait_for_selector("text=holds no text")
    page.evaluate("text => navigator.clipboard.writeText(text)", CELLS)
    page.click("button:has-text('Paste a table')")
    page.wait_for_selector("th:has-text('Height, cm')")


def test_what_cannot_be_read_as_a_table_is_refused_where_it_was_pasted(page_of):
    page = page_of()
    page.wait_for_selector("button:has-text('Paste a table')")
    page.evaluate(PASTE, "a\ta\n1\t2\n")
    page.wait_for_selector("text=column names must be unique")
    page.complaints[:] = [each for each in page.complaints if "422" not in each]  # the browser notes the refusal too


def test_the_structure_grows_on_the_page_and_a_clicked_arc_is_forbidden_in_the_next_search(page_of, served):
    rows = ASIA.sample(3000, random_state=0)
    text = ",".join(rows) + "\n" + "\n".join(",".join(cells) for cells in zip(*rows.values(), strict=True))
    page = page_of(f"#doc={served.open('visits.csv', text.encode())}")
    page.wait_for_selector('button:text-is("Learn")')
    page.evaluate("""() => { window.sizes = new Set(); new MutationObserver(() => {
        window.sizes.add(document.querySelectorAll('.grow-arc').length);
    }).observe(document.body, { childList: true, subtree: true }); }""")
    page.select_option('[aria-label="Method"]', "hill-climb")
    page.check("text=How sure is each arc")
    page.click('button:text-is("Learn")')
    page.wait_for_selector('button:has-text("Show the network")')
    drawn = {tuple(json.loads(arc)) for arc in page.eval_on_selector_all(".grow-arc", DATA_ARCS)}
    (learned,) = [each for each in served.studio.documents if each.name == "visits-learned.bif"]
    assert drawn == set(learned.net.arcs)
    assert set(range(1, len(drawn) + 1)) <= set(page.evaluate("[...window.sizes]"))
    reasons = page.locator(".why-arcs table").first
    assert reasons.locator("tbody tr").count() == len(drawn)
    assert re.search(r"→ .*\d.*\(\d+\).*%.*\(.*%\)", reasons.locator("tbody tr").first.inner_text(), re.DOTALL)
    first = next(iter(drawn))
    page.eval_on_selector_all(".grow-arc", CLICK, json.dumps(first, separators=(",", ":"), ensure_ascii=False))
    page.wait_for_selector(f'.chip:has-text("{first[0]} → {first[1]}")')
    page.click('button:text-is("Learn")')
    page.wait_for_selector('button:has-text("Show the network")')
    again = {tuple(json.loads(arc)) for arc in page.eval_on_selector_all(".grow-arc", DATA_ARCS)}
    assert first not in again
    assert again


def test_training_is_cancelled_without_harm(page_of, served):
    id = served.open("heart.csv", HEART.read_bytes())
    page = page_of(f"#doc={id}")
    page.select_option(".toolbar select", "disease")
    page.wait_for_selector("tr.target")
    page.click('button:has-text("Train")')
    page.click('.panel button:has-text("Stop")')
    page.wait_for_selector("text=Stopped.")
    assert served.ask(f"/tables/{id}/columns", target="disease").status_code == 200


def test_the_page_speaks_chinese_where_the_browser_does_and_switches(page_of, asia):
    page = page_of(f"#doc={asia}", locale="zh-CN")
    page.wait_for_selector("text=点击图中的状态\uff0c它就成为证据。")
    assert page.get_attribute("html", "lang") == "zh-CN"
    page.click('[aria-label="English"]')
    page.wait_for_selector("text=Click a state in the drawing")
    assert page.get_attribute("html", "lang") == "en"


def test_kinds_and_reasons_of_columns_are_in_chinese_too(page_of, served):
    cells = ["{0}", "{1}", "{2:.3f}", "{3}x", "2024-01-{4:02d}", "v{0}", "", '"{0}.{4},5"', "00{0}"]
    rows = [",".join(cells).format(k, k % 3, k / 7, "ab"[k % 2], k % 28 + 1) for k in range(60)]
    text = "\n".join(["id,few,real,text,day,own,empty,comma,padded", *rows])
    page = page_of(f"#doc={served.open('t.csv', text.encode())}", locale="zh-CN")
    page.wait_for_selector("th:has-text('few')")
    reasons = page.eval_on_selector_all(".sheet tbody tr", "all => all.map(row => row.children[2].textContent)")
    assert len(reasons) > 7
    mixed = [each for each in reasons if not re.search("[\u4e00-\u9fff]", each)]
    assert mixed == []


def test_each_word_has_both_languages(page_of):
    page = page_of()
    pairs = page.evaluate("async () => (await import('/static/words.js')).keys()")
    assert len(pairs) > 100
    for key, words in pairs:
        assert len(words) == 2, key
        assert all(word.strip() for word in words), key
        assert sorted(re.findall(r"\{\d\}", words[0])) == sorted(re.findall(r"\{\d\}", words[1])), key


def test_keys_alone_set_evidence(page_of, asia):
    page = page_of(f"#doc={asia}")
    page.wait_for_selector(".bar-value")
    page.focus('[data-name="asia"]')
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.name") == "smoke"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    settled(page, {"smoke": "no"})
    assert page.evaluate("document.activeElement.dataset.state") == "no"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.name") == "smoke"


def test_on_a_phone_the_panel_is_a_drawer(page_of, asia):
    page = page_of(f"#doc={asia}", viewport={"width": 390, "height": 800})
    page.wait_for_selector(".bar-value")
    assert not page.is_visible(".panel .card")
    page.click(".drawer-button")
    page.wait_for_selector(".panel .card", state="visible")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_dark_is_dark_and_motion_can_be_reduced(page_of, asia):
    page = page_of(f"#doc={asia}", color_scheme="dark", reduced_motion="reduce")
    page.wait_for_selector(".bar-value")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"
    assert page.evaluate("getComputedStyle(document.querySelector('.bar-value')).transitionDuration") == "0s"
    page.click('[aria-label="Light or dark"]')
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 251, 250)"


@pytest.mark.parametrize("view", ["empty", "network", "classifier", "table"])
def test_axe_finds_no_violation_in_the_light_and_in_the_dark(page_of, served, asia, view, tmp_path):
    axe = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text()
    if view == "classifier":
        from bayeskit import NaiveBayes

        NaiveBayes().fit(datasets.load_tennis(), target="play").save(tmp_path / "play.bayes")
        id = served.open("play.bayes", (tmp_path / "play.bayes").read_bytes())
    elif view == "table":
        id = served.open("heart.csv", HEART.read_bytes())
    evidence = "&target=lung&given=%7B%22smoke%22%3A%22yes%22%2C%22dysp%22%3A%22no%22%7D"
    fragment = "" if view == "empty" else f"#doc={asia}{evidence}" if view == "network" else f"#doc={id}"
    page = page_of(fragment)
    page.wait_for_selector(
        {"empty": ".example", "network": ".tornado", "classifier": ".waterfall", "table": "table"}[view]
    )
    if view == "network":
        page.click('[data-name="bronc"] .name')
        page.click('.panel summary:has-text("Table")')
        page.wait_for_selector(".cpt")
    page.evaluate(script)
    for _ in range(2):
        page.wait_for_timeout(300)  # colours fade
        found = page.evaluate("async () => (await axe.run()).violations")
        assert [(each["id"], [node["html"][:160] for node in each["nodes"]][:3]) for each in found] == []
        page.click('[aria-label="Light or dark"]')
