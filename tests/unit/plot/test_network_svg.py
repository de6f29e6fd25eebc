from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError
from bayeskit.plot.network_svg import draw_network
from bayeskit.plot.places import lay_out
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


@given(dags(8), st.data())
@settings(max_examples=50, deadline=None)
def test_boxes_do_not_overlap_and_arcs_pass_between_them(parents, data):
    size = st.tuples(st.floats(30, 200), st.floats(20, 120))
    sizes = data.draw(st.lists(size, min_size=len(parents), max_size=len(parents)))
    arcs = arcs_of(parents)
    layout = lay_out(sizes, arcs)
    for i, ((x, y), (w, h)) in enumerate(zip(layout.centres, sizes, strict=True)):
        assert w / 2 - 1e-6 <= x <= layout.width - w / 2 + 1e-6
        assert h / 2 - 1e-6 <= y <= layout.height - h / 2 + 1e-6
        for j in range(i):
            (u, v), (p, q) = layout.centres[j], sizes[j]
            assert abs(x - u) >= (w + p) / 2 - 1e-6 or abs(y - v) >= (h + q) / 2 - 1e-6
    assert not boxes_touched(layout, sizes, arcs)


def test_alarm_with_bars_has_seven_crossings_and_no_arc_through_a_box():
    net = public("alarm")
    sizes = [(140.0, 30 + 14.0 * card) for card in net.cards]
    layout = lay_out(sizes, arcs_of(net.parents))
    assert layout.crossings == 7
    assert not boxes_touched(layout, sizes, arcs_of(net.parents))


def test_the_picture_is_xml_with_a_box_a_bar_and_an_arc_for_each():
    net = BayesianNetwork("A->B<-C")
    drawing = net.draw(posterior={"B": [0.25, 0.75], "A": {"yes": 1.0}}, given={"A": "yes"})
    root = ElementTree.fromstring(drawing.svg)
    kinds = [element.get("class") for element in root.iter()]
    assert kinds.count("box") == 3
    assert kinds.count("arc") == 2
    assert kinds.count("bar") == 4
    assert kinds.count("node given") == 1
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert [text for text in texts if text.endswith("%")] == ["0.0 %", "100.0 %", "25.0 %", "75.0 %"]
    widths = [float(e.get("width")) for e in root.iter(f"{SVG}rect") if e.get("class") == "bar"]
    assert widths[3] == pytest.approx(3 * widths[2], abs=0.02)


def test_evidence_puts_the_posterior_into_the_boxes():
    net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
    root = ElementTree.fromstring(net.draw(given={"wet": "yes"}).svg)
    shown = [e.text for e in root.iter(f"{SVG}text") if e.get("class") == "p"]
    assert shown == ["30.8 %", "69.2 %", "0.0 %", "100.0 %"]  # 0.08 / 0.26 and 0.18 / 0.26
    root = ElementTree.fromstring(net.draw(bars=True).svg)
    shown = [e.text for e in root.iter(f"{SVG}text") if e.get("class") == "p"]
    assert shown == ["80.0 %", "20.0 %", "74.0 %", "26.0 %"]


def test_names_with_signs_of_xml_are_escaped():
    drawing = draw_network(["<script>alert(1)</script>", 'a"&b'], [(0, 1)])
    root = ElementTree.fromstring(drawing.svg)
    assert [e.text for e in root.iter(f"{SVG}text")] == ["<script>alert(1)</script>", 'a"&b']
    assert "<script>" not in drawing.svg


def test_many_states_are_summed_up_in_the_last_line():
    net = BayesianNetwork("A[21]")
    texts = [e.text for e in ElementTree.fromstring(net.draw(posterior={"A": [1 / 21] * 21}).svg).iter(f"{SVG}text")]
    assert "12 others" in texts
    assert f"{100 * 12 / 21:.1f} %" in texts


def test_parts_that_no_arc_joins_stand_beside_each_other():
    layout = lay_out([(50.0, 30.0)] * 30, [])
    assert layout.width < 10 * 90
    assert layout.height < 10 * 90


def test_notebooks_show_the_picture_and_files_hold_it(tmp_path):
    drawing = BayesianNetwork("A->B").draw()
    assert drawing._repr_svg_() == drawing.svg
    drawing.save(tmp_path / "net.svg")
    assert (tmp_path / "net.svg").read_text(encoding="utf-8") == drawing.svg
    with pytest.raises(ValueError, match=r"a drawing is saved as \.svg"):
        drawing.save(tmp_path / "net.png")
    assert repr(drawing).endswith("0 crossings)")


def test_bars_that_do_not_fit_are_refused():
    net = BayesianNetwork("A->B")
    with pytest.raises(NetworkError, match="the bars of 'A' need one probability a state, 2"):
        net.draw(posterior={"A": [1.0]})
    with pytest.raises(NetworkError, match="the bars of 'A' need one probability a state, 2"):
        net.draw(posterior={"A": [1.5, -0.5]})
    with pytest.raises(NetworkError, match="unknown variable 'C'"):
        net.draw(given={"C": "yes"})
    with pytest.raises(NetworkError, match="has no state 'maybe'"):
        net.draw(posterior={"A": {"maybe": 1.0}})
