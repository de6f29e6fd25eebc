"""Two pages on one network, a file that somebody else writes, and work that is not saved, in a real browser."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from bayeskit import BayesianNetwork, datasets
from tests.unit.cli.browser import require_chromium

require_chromium(whole_module=True)

HEART = Path(str(files("bayeskit.datasets").joinpath("data", "heart.csv")))
BAR = """([name, p]) => Math.abs(
    new DOMMatrix(document.querySelector(`[data-name="${name}"] .bar-value`)?.style.transform).a - p) < 1e-5"""
SMOKE = {"change": "table", "variable": "smoke", "rows": [[0.25, 0.75]]}
ALONE = "window.setInterval = () => 0"  # the page does not look at what others do


@pytest.fixture
def asia(served, tmp_path):
    datasets.load_asia().write(tmp_path / "asia.bif")
    document = served.studio.documents.open(tmp_path / "asia.bif", savable=True)
    yield document
    served.client.delete(f"/documents/{document.id}", params={"discard": "true"})


def show(page_of, document, *, alone=False):
    page = page_of()
    if alone:
        page.add_init_script(ALONE)
        page.reload()
    page.goto(page.url.split("#")[0] + f"#doc={document.id}")
    page.wait_for_selector(".bar-value")
    page.complaints.clear()  # of what the reload broke off
    return page


def type_table(page, variable, value):
    """Type the first number of a table; the other one follows."""
    page.click(f'[data-name="{variable}"] .name')
    page.click('.panel summary:has-text("Table")')
    page.fill(".cpt input >> nth=0", value)


def share_of(net, variable="smoke"):
    return float(np.asarray(net.tables[net.index(variable)]).ravel()[0])


def conflicts(page):
    """A refused request is a line of the console; these are wanted."""
    assert [said for said in page.complaints if "409" not in said] == []
    page.complaints.clear()


def test_edits_of_different_tables_are_merged_and_the_other_page_follows(page_of, served, asia):
    page, other = show(page_of, asia, alone=True), show(page_of, asia)
    type_table(page, "asia", "0.3")
    served.edit(f"/networks/{asia.id}", "change", **SMOKE).raise_for_status()
    page.click("text=Change the table")
    page.wait_for_function(BAR, arg=["asia", 0.3])
    page.wait_for_function(BAR, arg=["smoke", 0.25])
    other.wait_for_function(BAR, arg=["asia", 0.3])
    other.wait_for_function(BAR, arg=["smoke", 0.25])
    assert (share_of(asia.net, "asia"), share_of(asia.net)) == (0.3, 0.25)
    conflicts(page)


def test_edits_of_the_same_table_are_both_shown_and_the_user_chooses(page_of, served, asia):
    page = show(page_of, asia, alone=True)
    type_table(page, "smoke", "0.9")
    served.edit(f"/networks/{asia.id}", "change", **SMOKE).raise_for_status()
    page.click("text=Change the table")
    page.wait_for_selector("dialog.ask")
    assert [cell.strip() for cell in page.locator("dialog td").all_inner_texts()] == ["0.25", "0.75", "0.9", "0.1"]
    page.click('dialog button:has-text("Keep the other")')
    page.wait_for_function(BAR, arg=["smoke", 0.25])
    assert share_of(asia.net) == 0.25
    page.fill(".cpt input >> nth=0", "0.8")
    served.edit(f"/networks/{asia.id}", "change", **{**SMOKE, "rows": [[0.125, 0.875]]}).raise_for_status()
    page.click("text=Change the table")
    page.click('dialog button:has-text("Use this one")')
    page.wait_for_function(BAR, arg=["smoke", 0.8])
    assert share_of(asia.net) == 0.8
    conflicts(page)


def test_keys_undo_redo_and_save_also_from_the_card_and_the_title_is_marked(page_of, asia):
    page = show(page_of, asia)
    assert page.title() == "asia.bif – bayeskit"
    assert page.is_disabled('[aria-label="Undo"]')
    type_table(page, "smoke", "0.9")
    page.press(".cpt input >> nth=0", "Enter")  # the focus stays in the card
    page.wait_for_function("() => document.title === '● asia.bif – bayeskit'")
    assert page.is_enabled('[aria-label="Undo"]')
    page.wait_for_function(BAR, arg=["smoke", 0.9])  # else the next wait is over before the undo
    page.keyboard.press("Control+z")
    page.wait_for_function(BAR, arg=["smoke", 0.5])
    page.keyboard.press("Control+Shift+z")
    page.wait_for_function(BAR, arg=["smoke", 0.9])
    page.keyboard.press("Control+s")
    page.wait_for_function("() => document.title === 'asia.bif – bayeskit'")
    assert page.is_disabled('[aria-label="Save to asia.bif"]')
    assert share_of(BayesianNetwork.read(asia.file)) == 0.9


def test_a_save_over_the_work_of_another_program_shows_the_difference_and_asks(page_of, asia):
    page = show(page_of, asia)
    type_table(page, "smoke", "0.9")
    page.click("text=Change the table")
    page.wait_for_function(BAR, arg=["smoke", 0.9])
    datasets.load_asia().with_table("smoke", [0.2, 0.8]).write(asia.file)
    for button, here, file, changed in (
        ("Cancel", 0.9, 0.2, True),
        ("Take the file's", 0.2, 0.2, False),
        ("Replace the file", 0.9, 0.9, False),
    ):
        if button == "Replace the file":  # the change that was given up, again
            page.keyboard.press("Control+z")
            page.wait_for_function(BAR, arg=["smoke", 0.9])
            asia.file.write_text(asia.file.read_text() + "\n")
        page.keyboard.press("Control+s")
        page.wait_for_selector("dialog.ask")
        cells = [cell.strip() for cell in page.locator("dialog td").all_inner_texts()]
        assert cells == ["0.2", "0.8", "0.9", "0.1"]
        page.click(f'dialog button:has-text("{button}")')
        page.wait_for_selector("dialog.ask", state="detached")
        page.wait_for_function(f"() => document.title.startsWith('●') === {str(changed).lower()}")
        assert (share_of(asia.net), share_of(BayesianNetwork.read(asia.file)), asia.changed) == (here, file, changed)
    conflicts(page)


def test_closing_unsaved_work_asks(page_of, served, asia):
    page = show(page_of, asia)
    served.edit(f"/networks/{asia.id}", "change", **SMOKE).raise_for_status()
    page.hover(".rail-document.current")
    page.click('.rail-document.current [aria-label="Close asia.bif"]')
    page.click('dialog button:has-text("Cancel")')
    assert served.studio.documents.find(asia.id) is asia
    page.hover(".rail-document.current")
    page.click('.rail-document.current [aria-label="Close asia.bif"]')
    page.click('dialog button:has-text("Close it")')
    page.wait_for_selector("text=Drop a file here")
    assert asia not in list(served.studio.documents)
    conflicts(page)


def test_going_back_to_a_table_keeps_target_leaderboard_and_report(page_of, served, asia):
    id = served.open("heart.csv", HEART.read_bytes())
    with served.client.stream(
        "POST", f"/tables/{id}/train", json={"target": "disease", "models": ["NaiveBayes"]}
    ) as said:
        assert said.status_code == 200
        list(said.iter_lines())
    page = show(page_of, asia)
    for _ in range(2):
        page.evaluate(f"location.hash = '#doc={id}'")
        page.wait_for_selector(".board tr.best")
        page.wait_for_selector("tr.target:has-text('disease')")
        assert page.get_attribute('a:has-text("Report")', "href") == f"/api/v1/tables/{id}/report"
        page.evaluate(f"location.hash = '#doc={asia.id}'")
        page.wait_for_selector(".bar-value")


def test_a_server_that_is_gone_is_said(page_of, asia):
    page = show(page_of, asia)
    page.context.set_offline(True)
    page.wait_for_selector("text=The studio does not answer")
    page.context.set_offline(False)
    page.wait_for_selector(".away", state="hidden")
    page.complaints.clear()
