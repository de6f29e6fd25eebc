import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError, TableError
from bayeskit.plot import network_svg
from bayeskit.plot.layers import layer
from bayeskit.plot.layout import MOST_EXACT, _settled, _shortest, lay_out
from bayeskit.plot.network_svg import draw_network
from networks import dags, public

SVG = "{http://www.w3.org/2000/svg}"


def arcs_of(parents):
    return [(p, i) for i, own in enumerate(parents) for p in own]


def point_on(curve, t):
    """A point of a curve of cubic pieces, t from 0 to the number of pieces."""
    k = min(int(t), (len(curve) - 1) // 3 - 1)
    s = t - k
    return tuple(
        sum(
            w * p[axis]
            for w, p in zip(
                ((1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s * s * (1 - s), s**3), curve[3 * k : 3 * k + 4], strict=True
            )
        )
        for axis in (0, 1)
    )


def boxes_touched(layout, sizes, arcs):
    """Arcs that run through a box that is not one of their ends."""
    touched = []
    for (a, b), curve in zip(arcs, layout.curves, strict=True):
        pieces = (len(curve) - 1) // 3
        for step in range(20 * pieces + 1):
            x, y = point_on(curve, step / 20)
            for i, ((cx, cy), (w, h)) in enumerate(zip(layout.centres, sizes, strict=True)):
                if i not in (a, b) and abs(x - cx) < w / 2 - 1 and abs(y - cy) < h / 2 - 1:
                    touched.append((a, b, i))
    return touched


def crossings_of(curves):
    """Pairs of curves that cross, counted on the curves as they are drawn; arcs that meet at a box do not cross."""
    lines = [
        np.array([point_on(curve, t) for t in np.linspace(0, (len(curve) - 1) // 3, 40 * ((len(curve) - 1) // 3))])
        for curve in curves
    ]
    return sum(_meet(one, two) for one, two in combinations(lines, 2))


def _meet(one, two):
    """How often two lines of straight pieces cross, by the sides on which the ends of each two pieces lie."""

    def side(start, step, point):
        return np.sign(step[..., 0] * (point - start)[..., 1] - step[..., 1] * (point - start)[..., 0])

    a, b = one[:-1, None], two[None, :-1]
    u, v = one[1:, None] - a, two[None, 1:] - b
    across = (side(a, u, b) * side(a, u, b + v) < 0) & (side(b, v, a) * side(b, v, a + u) < 0)
    return int(across.sum())


def boxes_of(root):
    """Each node's group of the picture by name, with its box: left, top, right and bottom."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        box = next(e for e in group if e.get("class") == "box")
        x, y, w, h = (float(box.get(key)) for key in ("x", "y", "width", "height"))
        found[group.find(f"{SVG}title").text] = (group, (x, y, x + w, y + h))
    return found


def shown_in(root, name):
    """State, percentage and length of the bar of each line in a box."""
    group, _ = boxes_of(root)[name]
    states, shares, bars = ([e for e in group if e.get("class") == kind] for kind in ("state", "p", "bar"))
    return [
        (state.text, share.text, float(bar.get("width")))
        for state, share, bar in zip(states, shares, bars, strict=True)
    ]


@given(dags(8), st.data(), st.sampled_from([MOST_EXACT, -1]))
@settings(max_examples=80, deadline=None)
def test_boxes_do_not_overlap_and_arcs_pass_between_them_from_parent_to_child(parents, data, most_exact):
    size = st.tuples(st.floats(30, 200), st.floats(20, 120))
    sizes = data.draw(st.lists(size, min_size=len(parents), max_size=len(parents)))
    arcs = arcs_of(parents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayeskit.plot.layout.MOST_EXACT", most_exact)
        layout = lay_out(sizes, arcs)
    for i, ((x, y), (w, h)) in enumerate(zip(layout.centres, sizes, strict=True)):
        assert w / 2 - 1e-6 <= x <= layout.width - w / 2 + 1e-6
        assert h / 2 - 1e-6 <= y <= layout.height - h / 2 + 1e-6
        for j in range(i):
            (u, v), (p, q) = layout.centres[j], sizes[j]
            assert abs(x - u) >= (w + p) / 2 - 1e-6 or abs(y - v) >= (h + q) / 2 - 1e-6
    assert not boxes_touched(layout, sizes, arcs)
    for (a, b), curve in zip(arcs, layout.curves, strict=True):
        for (x, y), node, edge in ((curve[0], a, 1), (curve[-1], b, -1)):  # from a lower edge to an upper edge
            (cx, cy), (w, h) = layout.centres[node], sizes[node]
            assert abs(x - cx) <= w / 2
            assert y == pytest.approx(cy + edge * h / 2, abs=1e-9)


def test_an_arc_of_a_low_box_does_not_cut_the_corner_of_a_high_one_beside_it():
    sizes, arcs = [(30.0, 20.0), (139.0, 105.0), (30.0, 20.0), (30.0, 20.0)], [(0, 3), (1, 3), (2, 3)]
    assert not boxes_touched(lay_out(sizes, arcs), sizes, arcs)


def test_alarm_with_bars_has_seven_crossings_and_no_arc_through_a_box():
    net = public("alarm")
    sizes = [(140.0, 30 + 14.0 * card) for card in net.cards]
    layout = lay_out(sizes, arcs_of(net.parents))
    assert layout.crossings == 7
    assert crossings_of(layout.curves) == 7
    assert not boxes_touched(layout, sizes, arcs_of(net.parents))


@pytest.mark.parametrize("name", ["alarm", "pigs", "link"])
def test_places_by_sweeps_are_nearly_as_short_as_those_of_the_linear_programme(name):
    net = public(name)
    n, half = len(net.names), [60.0] * len(net.names)
    layers = layer(n, arcs_of(net.parents), [146.0] * n, 3000.0)
    weights = [(8.0, 2.0, 1.0)[(a < n) + (b < n)] for a, b in layers.segments]

    def length(x):
        return sum(weight * abs(x[a] - x[b]) for weight, (a, b) in zip(weights, layers.segments, strict=True))

    least, found = length(_shortest(layers, half)), length(_settled(layers, half))
    assert least * (1 - 1e-9) <= found <= 1.15 * least


def test_the_picture_is_xml_with_a_box_a_bar_and_an_arc_for_each():
    net = BayesianNetwork("A->B<-C")
    drawing = net.draw(posterior={"B": [0.25, 0.75], "A": {"yes": 1.0}}, given={"A": "yes"})
    root = ElementTree.fromstring(drawing.svg)
    boxes = boxes_of(root)
    assert list(boxes) == ["A", "B", "C"]
    assert [name for name, (group, _) in boxes.items() if group.get("class") == "node given"] == ["A"]
    assert shown_in(root, "C") == []
    for name, p in (("A", [0.0, 1.0]), ("B", [0.25, 0.75])):
        states, shares, bars = zip(*shown_in(root, name), strict=True)
        assert states == ("no", "yes")
        assert shares == tuple(f"{100 * share:.1f} %" for share in p)
        assert_allclose(bars, np.array(p) * sum(bars), atol=0.01)  # two decimals are written
    tips = [element.get("d") for element in root.iter(f"{SVG}path") if element.get("class") == "tip"]
    starts = [element.get("d") for element in root.iter(f"{SVG}path") if element.get("class") == "arc"]
    for start, tip, parent in zip(starts, tips, "AC", strict=True):
        assert _touches(start, boxes[parent][1], "bottom")
        assert _touches(tip, boxes["B"][1], "top")


def _touches(path, box, edge):
    """Whether a path starts on an edge of a box; one decimal is written of each number."""
    x, y = (float(number) for number in re.match(r"M(\S+) ([\d.-]+?)(?=[Cl])", path).groups())
    left, top, right, bottom = box
    return left <= x <= right and y == pytest.approx(top if edge == "top" else bottom, abs=0.11)


def test_evidence_puts_the_posterior_into_the_boxes():
    net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
    root = ElementTree.fromstring(net.draw(given={"wet": "yes"}).svg)
    assert [line[:2] for line in shown_in(root, "rain")] == [("no", "30.8 %"), ("yes", "69.2 %")]  # 8 : 18
    assert [line[:2] for line in shown_in(root, "wet")] == [("no", "0.0 %"), ("yes", "100.0 %")]
    assert [name for name, (group, _) in boxes_of(root).items() if group.get("class") == "node given"] == ["wet"]
    root = ElementTree.fromstring(net.draw(bars=True).svg)
    assert [line[:2] for line in shown_in(root, "rain")] == [("no", "80.0 %"), ("yes", "20.0 %")]
    assert [line[:2] for line in shown_in(root, "wet")] == [("no", "74.0 %"), ("yes", "26.0 %")]


def test_names_with_signs_of_xml_are_escaped():
    drawing = draw_network(["<script>alert(1)</script>", 'a"&b'], [(0, 1)])
    root = ElementTree.fromstring(drawing.svg)
    assert [e.text for e in root.iter(f"{SVG}text")] == ["<script>alert(1)</script>", 'a"&b']
    assert "<script>" not in drawing.svg


def test_all_but_the_nine_most_probable_states_are_summed_up_in_the_last_line():
    net = BayesianNetwork("A[21]")
    p = [k / 210 for k in range(20, -1, -1)]  # 20 + 19 + … + 0 = 210
    lines = shown_in(ElementTree.fromstring(net.draw(posterior={"A": p[::-1]}).svg), "A")
    assert [line[0] for line in lines] == [*net.states[0][12:], "12 others"]
    assert [line[1] for line in lines] == [*(f"{100 * k / 210:.1f} %" for k in range(12, 21)), "31.4 %"]  # 66 / 210


def test_parts_that_no_arc_joins_stand_beside_each_other_in_rows():
    layout = lay_out([(50.0, 30.0)] * 30, [])
    # 1.6 times as wide as high, with gaps of 40: √(1.6 · 30 · 90 · 70) = 550 holds 6 boxes of 50 with 5 gaps.
    assert layout.centres == [(25.0 + 90 * (k % 6), 15.0 + 70 * (k // 6)) for k in range(30)]
    assert (layout.width, layout.height) == (500.0, 310.0)


def test_notebooks_show_the_picture_and_files_hold_it(tmp_path):
    drawing = BayesianNetwork("A->B").draw()
    assert drawing._repr_svg_() == drawing.svg
    drawing.save(tmp_path / "net.svg")
    assert (tmp_path / "net.svg").read_text(encoding="utf-8") == drawing.svg
    with pytest.raises(ValueError, match=r"a drawing is saved as \.svg"):
        drawing.save(tmp_path / "net.png")
    assert repr(drawing).endswith("0 crossings)")


def test_a_drawing_replaces_drawings_and_no_other_file(tmp_path):
    drawing, path = BayesianNetwork("A->B").draw(), tmp_path / "net.svg"
    drawing.save(path)
    drawing.save(path)
    path.write_text("<svg>mine</svg>")
    with pytest.raises(TableError, match="nothing in it says that bayeskit wrote it"):
        drawing.save(path)
    assert path.read_text() == "<svg>mine</svg>"
    drawing.save(path, force=True)
    assert path.read_text(encoding="utf-8") == drawing.svg


def test_bars_that_do_not_fit_are_refused():
    net = BayesianNetwork("A->B")
    with pytest.raises(NetworkError, match="the posterior of 'A' needs one number per state, 2"):
        net.draw(posterior={"A": [1.0]})
    with pytest.raises(NetworkError, match="the posterior of 'A' must hold finite numbers of at least 0"):
        net.draw(posterior={"A": [1.5, -0.5]})
    with pytest.raises(NetworkError, match="the posterior of 'A' must hold probabilities, at most 1"):
        net.draw(posterior={"A": [1.5, 0.5]})
    with pytest.raises(NetworkError, match="unknown variable 'C'"):
        net.draw(given={"C": "yes"})
    with pytest.raises(NetworkError, match="has no state 'maybe'"):
        net.draw(posterior={"A": {"maybe": 1.0}})


def test_a_node_with_a_hundred_children_fits_a_page():
    net = BayesianNetwork("; ".join(f"disease->finding{i}" for i in range(100)))
    drawing = net.draw()
    width, height = (float(ElementTree.fromstring(drawing.svg).get(side)) for side in ("width", "height"))
    assert width < 2000
    assert height < 1500
    assert drawing.crossings == 0


def test_a_wrapped_drawing_keeps_arcs_off_the_boxes():
    arcs = [(0, i) for i in range(1, 60)] + [(1, i) for i in range(30, 60)]
    sizes = [(90.0, 30.0)] * 60
    layout = lay_out(sizes, arcs)
    assert layout.width < 2200
    assert boxes_touched(layout, sizes, arcs) == []
    for (a, b), curve in zip(arcs, layout.curves, strict=True):
        assert curve[0][1] == layout.centres[a][1] + 15
        assert curve[-1][1] == layout.centres[b][1] - 15


def test_the_largest_public_network_is_no_wider_than_a_page_of_its_size():
    net = public("munin")
    drawing = net.draw()
    assert float(ElementTree.fromstring(drawing.svg).get("width")) < 7000  # 11504 in rows that are not wrapped


def test_a_part_of_a_network_is_drawn_with_dashed_borders_where_it_is_cut():
    net = BayesianNetwork("a->b->c->d; e->c")
    around = net.draw(around="b").svg
    assert re.findall(r"<title>(\w)</title>", around) == ["a", "b", "c"]
    assert re.findall(r'class="node cut"><title>(\w)', around) == ["c"]
    assert re.findall(r"<title>(\w)</title>", net.draw(around="b", steps=2).svg) == ["a", "b", "c", "d", "e"]
    only = net.draw(only=["a", "d"], given={"c": "yes"}).svg
    assert re.findall(r"<title>(\w)</title>", only) == ["a", "d"]
    assert 'class="arc"' not in only
    with pytest.raises(NetworkError, match="unknown variable 'z'"):
        net.draw(around="z")
    with pytest.raises(NetworkError, match="steps must be a whole number"):
        net.draw(around="a", steps=-1)


def test_the_geometry_of_a_page_is_that_of_the_drawing_with_bars():
    names, states, arcs = ["a", "b"], [["no", "yes"], [str(k) for k in range(30)]], [(0, 1)]
    found = network_svg.network_geometry(names, states, arcs)
    assert found.shown == [2, network_svg.MAX_STATES - 1]
    drawn = network_svg.draw_network(names, arcs, states=states, posterior={"a": [0.5, 0.5], "b": [1 / 30] * 30})
    height = found.layout.height + 2 * network_svg.MARGIN
    assert f'height="{height:.0f}"' in drawn.svg
    assert len(found.layout.curves) == 1


def test_a_name_that_xml_cannot_hold_leaves_the_picture_whole():
    net = BayesianNetwork("a->b", states={"a": ["x\x01", "y\x00z"]}, tables={"a": [0.5, 0.5], "b": [[1, 0], [0, 1]]})
    drawn = "".join(ElementTree.fromstring(net.draw(bars=True).svg).itertext())
    assert "x" in drawn
    assert not {"\x00", "\x01"} & set(drawn)
