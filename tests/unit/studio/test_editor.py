"""The editor in a real browser: boxes are dragged, arcs drawn, states, notes and colours changed, also by keyboard."""

import pytest

from bayeskit import BayesianNetwork, datasets
from tests.unit.cli.browser import require_chromium

require_chromium(whole_module=True)


@pytest.fixture
def asia(served, tmp_path):
    datasets.load_asia().write(tmp_path / "asia.bif")
    document = served.studio.documents.open(tmp_path / "asia.bif", savable=True)
    yield document
    served.client.delete(f"/documents/{document.id}", params={"discard": "true"})


@pytest.fixture
def page(page_of, asia):
    shown = page_of(f"#doc={asia.id}")
    shown.wait_for_selector(".bar-value")
    return shown


def middle(page, selector):
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, start, end):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def until(page, document, holds):
    for _ in range(1000):
        if holds(document):
            return
        page.wait_for_timeout(30)
    raise AssertionError(document.version.draft.look)


def test_a_box_is_dragged_its_place_saved_and_given_up_by_request(page, asia):
    x, y = middle(page, '[data-name="xray"] .name')
    page.keyboard.down("Alt")  # nothing snaps
    drag(page, (x, y), (x + 150, y + 40))
    page.keyboard.up("Alt")
    until(page, asia, lambda each: "xray" in each.version.draft.look)
    moved = middle(page, '[data-name="xray"] .name')
    assert moved == pytest.approx((x + 150, y + 40), abs=1.5)
    assert len(asia.version.draft.look) == 8  # the others stay where they were
    page.keyboard.press("Control+s")
    until(page, asia, lambda each: not each.changed)
    page.reload()
    page.wait_for_selector(".bar-value")
    (node,) = [each for each in asia.version.draft.look.items() if each[0] == "xray"]
    shown = page.eval_on_selector('[data-name="xray"]', "node => node.getAttribute('transform')")
    left, top = (float(part) for part in shown[10:-1].split())
    box = page.eval_on_selector('[data-name="xray"] .box', "box => [box.width.baseVal.value, box.height.baseVal.value]")
    assert (left + box[0] / 2, top + box[1] / 2) == pytest.approx(tuple(node[1]["at"]), abs=0.1)
    page.click("text=Automatic layout")
    until(page, asia, lambda each: each.version.draft.look == {})


def test_an_arc_is_drawn_from_box_to_box_and_removed_by_key(page, asia):
    page.hover('[data-name="asia"] .name')
    box = page.locator('[data-name="asia"] .box').bounding_box()
    drag(page, (box["x"] + box["width"] / 2, box["y"] + box["height"] - 1), middle(page, '[data-name="dysp"] .name'))
    until(page, asia, lambda each: ("asia", "dysp") in each.net.arcs)
    page.wait_for_selector("""[data-arc='["asia","dysp"]']""", state="attached")
    page.eval_on_selector(
        """[data-arc='["asia","dysp"]'] .arc-hit""",
        "arc => arc.dispatchEvent(new MouseEvent('click', { bubbles: true }))",
    )
    page.wait_for_selector(".panel h2:has-text('asia → dysp')")
    page.keyboard.press("Delete")
    until(page, asia, lambda each: ("asia", "dysp") not in each.net.arcs)


def test_boxes_are_moved_and_connected_by_keyboard(page, asia):
    page.focus('[data-name="asia"]')
    page.keyboard.press("Alt+ArrowRight")
    page.keyboard.press("Alt+ArrowRight")
    until(page, asia, lambda each: "asia" in each.version.draft.look)
    page.keyboard.press("a")
    page.focus('[data-name="smoke"]')
    page.keyboard.press("a")
    until(page, asia, lambda each: ("asia", "smoke") in each.net.arcs)


def test_states_names_notes_and_colours_are_changed_in_the_card(page, asia):
    page.click('[data-name="smoke"] .name')
    page.click("text=Edit the variable")
    page.fill('[aria-label="Name of the state yes"]', "daily")
    page.click('button:has-text("New state")')
    page.fill('[aria-label="New state"]', "sometimes")
    page.click("text=Change the states")
    until(page, asia, lambda each: each.net["smoke"].states == ("daily", "no", "sometimes"))
    assert asia.net["smoke"].array.tolist() == [0.5, 0.5, 0.0]
    before = datasets.load_asia()["lung"].array
    assert asia.net["lung"].array.tolist() == [*before.tolist(), [0.5, 0.5]]
    page.click('[aria-label="Colour c"]')
    until(page, asia, lambda each: each.version.draft.look.get("smoke", {}).get("colour") == "c")
    page.fill("textarea", "asked on arrival")
    page.press("textarea", "Tab")
    until(page, asia, lambda each: each.version.draft.look["smoke"].get("note") == "asked on arrival")
    page.fill('[aria-label="Rename"]', "smoking")
    page.click('button:has-text("Rename")')
    until(page, asia, lambda each: "smoking" in each.net)
    assert asia.version.draft.look["smoking"] == {"colour": "c", "note": "asked on arrival"}
    asia.save()
    assert BayesianNetwork.read(asia.file)["smoking"].states == ("daily", "no", "sometimes")


def test_a_dragged_box_falls_in_line_with_another(page, asia):
    x, _ = middle(page, '[data-name="xray"] .box')
    other, _ = middle(page, '[data-name="smoke"] .box')
    _, top = middle(page, '[data-name="xray"] .name')
    drag(page, (x, top), (other + 4, top + 60))
    until(page, asia, lambda each: "xray" in each.version.draft.look)
    places = asia.version.draft.look
    assert places["xray"]["at"][0] == places["smoke"]["at"][0]
    assert page.locator(".guide").count() == 0  # shown while it is dragged


def test_variables_are_grouped_folded_and_opened_again(page, asia):
    page.click('[data-name="lung"] .name')
    page.click("summary:has-text('Edit the variable')")
    page.get_by_label("Group", exact=True).fill("Chest")
    page.click("text=With parents and children")
    until(page, asia, lambda each: each.version.draft.look.get("either") == {"group": "Chest"})
    assert set(asia.version.draft.look) == {"lung", "smoke", "either"}
    page.get_by_role("button", name="▾ Chest").click()
    page.wait_for_selector(".node.group")
    assert page.locator(".node").count() == 6
    assert page.locator(".node.group .members").text_content() == "3 variables"
    assert "folded" in page.url
    page.reload()
    page.wait_for_selector(".node.group")
    page.focus(".node.group")
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-name="lung"]')
    assert page.locator(".node").count() == 8


def test_a_variable_of_a_folded_group_is_found_and_shown_with_its_neighbours(page_of, asia):
    asia.change({"change": "group", "variables": list(asia.net.names), "group": "All"})
    page = page_of(f'#doc={asia.id}&folded=["All"]')
    page.wait_for_selector(".node.group")
    assert page.locator(".node").count() == 1
    page.fill(".search input", "lung")
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-name="lung"]')
    shown = set(page.eval_on_selector_all(".node:not(.group)", "nodes => nodes.map(node => node.dataset.name)"))
    assert shown == {"lung", *datasets.load_asia().markov_blanket("lung")}
