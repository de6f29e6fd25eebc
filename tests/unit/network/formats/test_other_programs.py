"""Files as GeNIe, Netica, Hugin, MSBN, pyAgrum and pgmpy write them, after their published grammars."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import BayesianNetwork, load
from bayeskit.errors import NetworkError, NetworkFileError
from bayeskit.network import ConditionalGaussian, LinearGaussian, NoisyMax, NoisyOr


def read(tmp_path, name, text, **options):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return BayesianNetwork.read(tmp_path / name, **options)


def again(net, tmp_path, extension):
    net.write(tmp_path / f"again.{extension}")
    return BayesianNetwork.read(tmp_path / f"again.{extension}")


GENIE = """<?xml version="1.0" encoding="UTF-8"?>
<!-- This network was created in GeNIe -->
<smile version="1.0" id="Venture" numsamples="10000" discsamples="10000">
 <nodes>
  <cpt id="Flu"><state id="Mild"/><state id="Severe"/><state id="None"/><probabilities>0.1 0.2 0.7</probabilities>
   <property id="source">Smith 2001</property></cpt>
  <cpt id="Cold" target="true"><state id="Yes"/><state id="No"/><parents>Flu</parents>
   <probabilities>0.3 0.7 0.4 0.6 0.2 0.8</probabilities></cpt>
  <noisymax id="Fever"><state id="High"/><state id="Low"/><state id="Absent"/><parents>Flu Cold</parents>
   <strengths>1 0 2 0 1</strengths>
   <parameters>0.6 0.3 0.1 0.1 0.3 0.6 0 0 1 0.05 0.25 0.7 0 0 1 0.01 0.02 0.97</parameters></noisymax>
  <deterministic id="Bed"><state id="Stay"/><state id="Go"/><parents>Fever Cold</parents>
   <resultingstates>Stay Stay Stay Go Go Go</resultingstates></deterministic>
  <equation id="Temp"><parents>Cold</parents>
   <definition lower="30" upper="45">Temp=37 + If(Cold=0, 0.5, 0) + Normal(0,0.4)</definition></equation>
  <equation id="Reading"><parents>Temp</parents>
   <definition>Reading=1.8*Temp + 32 + Normal(0,0.1)</definition></equation>
 </nodes>
 <extensions><genie version="1.0" app="GeNIe 4.0" name="Venture"><submodel id="s"><node id="Flu"><name>Influenza</name>
  <interior color="e5f6f7"/><position>10 20 110 60</position><comment>seasonal &lt;b&gt;</comment></node></submodel>
 </genie></extensions>
</smile>"""


def test_genie_nodes_have_their_tables(tmp_path):
    net = read(tmp_path, "g.xdsl", GENIE)
    assert net.names == ("Flu", "Cold", "Fever", "Bed", "Temp", "Reading")
    assert net.real == ("Temp", "Reading")
    assert_array_equal(net.cpds[1].values, [[0.3, 0.7], [0.4, 0.6], [0.2, 0.8]])
    # The columns of Flu come in the order Severe, Mild, None; the last state is "no effect".
    fever = NoisyMax(
        {
            "Flu": {"Severe": [0.6, 0.3, 0.1], "Mild": [0.1, 0.3, 0.6]},
            "Cold": {"Yes": [0.05, 0.25, 0.7]},
        },
        leak=[0.01, 0.02, 0.97],
        order=["Absent", "Low", "High"],
    )
    tables = {"Flu": [0.1, 0.2, 0.7], "Cold": [[0.3, 0.7], [0.4, 0.6], [0.2, 0.8]], "Fever": fever}
    ours = BayesianNetwork("Flu{Mild|Severe|None}->Cold{Yes|No}; Flu->Fever{High|Low|Absent}<-Cold", tables=tables)
    assert_allclose(net.cpds[2].values, ours.tables[2], rtol=1e-15)
    # By the definition: P(Fever = Absent | Severe, Yes) = .1 * .7 * .97.
    assert_allclose(net.cpds[2].values[1, 0, 2], 0.1 * 0.7 * 0.97, rtol=1e-15)
    assert_array_equal(net.cpds[3].values.argmax(axis=-1), [[0, 0], [0, 1], [1, 1]])
    assert net.posterior("Temp", given={"Cold": "Yes"}).mean == pytest.approx(37.5, abs=1e-12)
    assert net.posterior("Reading", given={"Temp": 38}).mean == pytest.approx(1.8 * 38 + 32, abs=1e-12)


def test_what_genie_says_beside_the_numbers_is_kept(tmp_path):
    net = read(tmp_path, "g.xdsl", GENIE)
    assert net.properties["Flu"] == {
        "source": "Smith 2001", "label": "Influenza", "comment": "seasonal <b>", "position": "60 40"
    }  # fmt: skip
    back = again(net, tmp_path, "xdsl")
    assert back.properties == net.properties
    assert back == net
    net.save(tmp_path / "net.bayes")
    assert load(tmp_path / "net.bayes").properties == net.properties
    assert net.do({"Cold": "Yes"}).properties["Flu"]["label"] == "Influenza"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<deterministic", "<decision", "line 12, column 3: 'Bed' is a decision node"),
        ("Stay Stay Stay Go Go Go", "Stay Stay Leave Go Go Go", "'Leave' is not a state of 'Bed'"),
        ("1 0 2 0 1", "1 2 0 0 1", "can be read in two ways"),
        ("1 0 2 0 1", "1 0 0 0 1", "must order the states"),
        ("1.8*Temp", "Temp*Temp", "not linear"),
        ("1.8*Temp", "1.8*Cold", "'Cold' is not known here"),
        ("Normal(0,0.1)", "0.1", "has no noise"),
        ("<parents>Temp</parents>", "<parents>Temperature</parents>", "'Temperature' of 'Reading' is not in the file"),
        ("0.01 0.02 0.97", "0.01 0.02", "needs 18 parameters; got 17"),
        ("0.01 0.02 0.97", "0.01 0.02 0.9", "must be probabilities that sum to 1"),
        ("<parents>Fever Cold</parents>", "<parents>Fever Temp</parents>", "has the real parent 'Temp'"),
        ("</smile>", "</smiles>", "the XML is broken: mismatched tag"),
    ],
)
def test_a_fault_in_xdsl_is_shown_with_its_place(tmp_path, old, new, message):
    assert old in GENIE
    text = GENIE.replace("</deterministic>", "</decision>") if new == "<decision" else GENIE
    with pytest.raises(NetworkFileError) as error:
        read(tmp_path, "g.xdsl", text.replace(old, new))
    assert message in str(error.value)


def test_a_noisy_or_stays_one_in_xdsl_with_forty_parents(tmp_path):
    causes = [f"d{i}" for i in range(40)]
    tables = {cause: [0.95, 0.05] for cause in causes}
    tables["y"] = NoisyOr({cause: 0.01 * (k + 1) for k, cause in enumerate(causes)}, leak=0.02)
    tables["z"] = [[0.9, 0.1], [0.3, 0.7]]
    net = BayesianNetwork([*((cause, "y") for cause in causes), ("y", "z")], tables=tables)
    back = again(net, tmp_path, "xdsl")
    assert back.cpds[back.index("y")].title == "noisy-OR"
    for given in ({"z": "yes"}, {"y": "yes"}, {"z": "no", "d3": "yes"}):
        assert_allclose(back.posterior("d39", given=given)["yes"], net.posterior("d39", given=given)["yes"], rtol=1e-12)


def mixed():
    f, m = LinearGaussian(mean=-81.25, sd=5.1, h=0.9), LinearGaussian(mean=-90, sd=6, h=-1e-7)
    h = {"f": LinearGaussian(mean=1e9, sd=1e-3), "m": LinearGaussian(mean=179, sd=7)}
    tables = {"s": [0.4, 0.6], "h": ConditionalGaussian(h), "w": ConditionalGaussian({"f": f, "m": m})}
    return BayesianNetwork("s{f|m}->h->w; s->w", tables=tables)


@pytest.mark.parametrize("extension", ["net", "xdsl"])
def test_real_variables_read_back_to_the_last_bit(tmp_path, extension):
    assert again(mixed(), tmp_path, extension) == mixed()


@pytest.mark.parametrize("extension", ["bif", "xmlbif", "uai", "dot", "dne", "dsc", "jgum"])
def test_a_format_without_real_variables_says_which_has_them(tmp_path, extension):
    with pytest.raises(NetworkError, match=r"real|discrete"):
        mixed().write(tmp_path / f"m.{extension}")
    assert not (tmp_path / f"m.{extension}").exists()


HUGIN = """net { node_size = (80 40); HR_Desc = "by hand"; }
node Sex { states = ("f" "m"); label = "Sex"; position = (100 200); }
node Two { states = ("no" "yes"); }
continuous node Height { label = "body height"; }
continuous node Weight { }
potential (Sex) { data = (0.4 0.6); }
potential (Two | Sex) { model_nodes = (); model_data = (Sex == "f"); data = ((0 1) (1 0)); }
potential (Height | Sex) { data = ( normal ( 166, 36 ) % f
   normal (179, 49) ); }
potential (Weight | Height Sex) { data = ( normal (-80 + 0.9 * Height, 25) normal ( 2 * ( Height - 130 ), 30.25 ) ); }
"""


def test_hugin_has_continuous_nodes_with_variances(tmp_path):
    net = read(tmp_path, "h.net", HUGIN)
    row = LinearGaussian
    tables = {
        "Sex": [0.4, 0.6],
        "Two": [[0, 1], [1, 0]],
        "Height": ConditionalGaussian({"f": row(mean=166, sd=6), "m": row(mean=179, sd=7)}),
        "Weight": ConditionalGaussian({"f": row(mean=-80, sd=5, Height=0.9), "m": row(mean=-260, sd=5.5, Height=2)}),
    }
    arcs = "Sex{f|m}->Two; Sex->Height; Height->Weight<-Sex"
    assert net == BayesianNetwork(arcs, tables=tables)
    assert net.properties["Sex"] == {"position": "100 200"}
    assert net.properties["Two"] == {"model_nodes": "()", "model_data": '(Sex == "f")'}
    assert net.properties["Height"] == {"label": "body height"}
    assert net.properties[""]["HR_Desc"] == "by hand"


def test_hugin_model_data_is_computed_where_there_are_no_numbers(tmp_path):
    net = read(tmp_path, "h.net", HUGIN.replace(" data = ((0 1) (1 0));", ""))
    assert_array_equal(net.cpds[1].values, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("normal (179, 49)", "", "'Height' needs 2 normals"),
        ("normal (179, 49)", "normal (179, 0)", "a variance above 0"),
        ("0.9 * Height", "0.9 * Sex", "'Sex' is not known here"),
        ("0.9 * Height", "Height * Height", "not linear"),
        ("potential (Two | Sex)", "potential (Two | Height)", "has the real parent 'Height'"),
        ("continuous node Weight { }", "utility Weight { }", "line 5, column 1: 'Weight' is a utility node"),
    ],
)
def test_a_fault_in_a_continuous_net_is_shown_with_its_place(tmp_path, old, new, message):
    assert old in HUGIN
    with pytest.raises(NetworkFileError) as error:
        read(tmp_path, "h.net", HUGIN.replace(old, new))
    assert message in str(error.value)
    assert ", line " in str(error.value)


NETICA = """// ~->[DNET-1]->~
// File created by hand after Norsys' description
bnet Chest {
autoupdate = TRUE;
comment = "a \\"small\\" net";
visual V1 { nodefont = font {shape= "Arial"; size= 9;}; NodeSet Node {BuiltIn = 1; Color = 0x00e1e1e1;}; };
node Tub { kind = NATURE; discrete = TRUE; chance = CHANCE; states = (Present, Absent); parents = ();
  probs = // Present Absent
   (0.0104, 0.9896); title = "Tuber\\
culosis"; visual V1 { center = (120, 66); height = 1; }; };
node Cancer { states = (Present, Absent); parents = (); probs = (0.055, 0.945); whenchanged = 1; };
node Either { chance = DETERMIN; states = (True, False); parents = (Tub, Cancer);
  functable = (((True), (True)), ((True), (False)));
  equation = "Either (Tub, Cancer) = Tub == Present || Cancer == Present"; };
node Fixed { states = (a, b, c); parents = (Either); probs = ((#1), (0.2, @imposs, 0.8)); };
node Formula { states = (True, False); parents = (Tub, Cancer);
  equation = "Formula (Tub, Cancer) =\\n Tub == Present && Cancer == Present"; };
node Dose { discrete = FALSE; levels = (-INFINITY, 10, 20, INFINITY); parents = (Tub); inputs = (, t);
  probs = (0.1, 0.2, 0.7, 0.3, 0.3, 0.4); };
node Year { discrete = TRUE; levels = (2020, 2030); parents = (); probs = (0.5, 0.5); evidence = #1; };
node Title1 { kind = CONSTANT; discrete = FALSE; title = "A picture"; };
};
"""


def test_netica_nodes_have_their_tables(tmp_path):
    net = read(tmp_path, "n.dne", NETICA)
    assert net.names == ("Tub", "Cancer", "Either", "Fixed", "Formula", "Dose", "Year")
    assert_array_equal(net["Either"].array.argmax(axis=-1), [[0, 0], [0, 1]])
    assert_array_equal(net["Fixed"].array, [[0, 1, 0], [0.2, 0, 0.8]])
    assert_array_equal(net["Formula"].array.argmax(axis=-1), [[0, 1], [1, 1]])
    assert net.states[net.index("Dose")] == ("< 10", "10 to 20", ">= 20")
    assert net.states[net.index("Year")] == ("2020", "2030")
    assert_array_equal(net["Dose"].array, [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    # Lauritzen & Spiegelhalter 1988: P(tub or cancer) of the chest clinic is .0648.
    assert net.posterior("Either")["True"] == pytest.approx(0.0648, abs=5e-5)
    assert net.properties["Tub"] == {"label": "Tuberculosis", "position": "120 66"}
    assert net.properties[""] == {"label": "Chest", "comment": 'a "small" net'}
    back = again(net, tmp_path, "dne")
    assert back == net
    assert back.properties["Tub"] == net.properties["Tub"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind = NATURE", "kind = DECISION", "line 7, column 1: 'Tub' is a decision node"),
        ("parents = (Either)", "parents = (Other)", "the parent 'Other' of 'Fixed' is not in the file"),
        ("(0.2, @imposs, 0.8)", "(@undef)", "rows that were never given"),
        ("((#1)", "((#7)", "'#7' is not the number of a state"),
        ("0.055, 0.945", "0.055, 0.9", "sums to 0.955"),
        ("(a, b, c)", "(a, b, a)", "must differ"),
        ("Tub == Present &&", "Tub == Present and (", "'Formula': the formula"),
        ("bnet Chest", "net Chest", "begins with 'bnet'"),
    ],
)
def test_a_fault_in_dne_is_shown_with_its_place(tmp_path, old, new, message):
    assert old in NETICA
    with pytest.raises(NetworkFileError) as error:
        read(tmp_path, "n.dne", NETICA.replace(old, new, 1))
    assert message in str(error.value)


def test_netica_has_real_variables_by_their_equations(tmp_path):
    text = """bnet x { node A { states = (yes, no); probs = (0.5, 0.5); };
    node X { discrete = FALSE; parents = (A); equation = "p (X | A) = NormalDist (X, A == yes ? 2 : 3, 0.5)"; };
    node Y { discrete = FALSE; parents = (X); equation = "p (Y | X) = NormalDist (Y, 2 * X - 1, 3)"; }; };"""
    net = read(tmp_path, "n.dne", text)
    assert net.posterior("Y", given={"A": "no"}).mean == pytest.approx(5, abs=1e-12)
    assert net.posterior("Y", given={"A": "no"}).sd == pytest.approx(np.sqrt(4 * 0.25 + 9), abs=1e-12)


DSC = """belief network "Chest clinic"
// as bnlearn writes it
node smoke { name: "Smoker"; type : discrete [ 2 ] = { "yes", "no" }; position : (10, 20); }
node lung { type : discrete[3] = { big, "small", none }; }
node both { type: discrete [ 2 ] = { "a", "b" }; }
probability ( smoke ) { 0.5, 0.5; }
probability ( both | smoke, lung ) { default = 0.5, 0.5; (1, 2): 0.25, 0.75; (0, 0) : 1, 0; }
probability ( lung | smoke )
{
  (1) : 0.01, 0.09, 0.9;
  (0) : 0.1, 0.3, 0.6;
}
"""


def test_dsc_rows_are_numbered_by_the_parents_states(tmp_path):
    net = read(tmp_path, "d.dsc", DSC.replace("default = 0.5, 0.5; (1, 2): 0.25, 0.75; (0, 0) : 1, 0;",
                                              "(1, 2): 0.25, 0.75; (0, 0) : 1, 0; default: 0.5, 0.5;"))  # fmt: skip
    assert_array_equal(net["lung"].array, [[0.1, 0.3, 0.6], [0.01, 0.09, 0.9]])
    assert_array_equal(net["both"].array[:, :, 0], [[1, 0.5, 0.5], [0.5, 0.5, 0.25]])
    assert net.properties == {"smoke": {"label": "Smoker", "position": "10 20"}, "": {"label": "Chest clinic"}}
    assert again(net, tmp_path, "dsc").properties == net.properties
    assert again(net, tmp_path, "dsc") == net


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(1) : 0.01", "(2) : 0.01", "expected a number from 0 to 1"),
        ("(1) : 0.01", "(0) : 0.01", "the table has a row twice"),
        ("  (1) : 0.01, 0.09, 0.9;\n", "", "the table has no row 1"),
        ("0.1, 0.3, 0.6", "0.1, 0.3", "the row has 2 numbers and needs 3"),
        ("discrete[3]", "discrete[2]", "another number of states"),
        ("| smoke )", "| fire )", "node 'fire' is not declared above"),
        ("type : discrete [ 2 ]", "type : continuous [ 2 ]", "only discrete nodes"),
    ],
)
def test_a_fault_in_dsc_is_shown_with_its_place(tmp_path, old, new, message):
    text = DSC.replace("default = 0.5, 0.5; (1, 2): 0.25, 0.75; (0, 0) : 1, 0;", "default = 0.5, 0.5;")
    assert old in text
    with pytest.raises(NetworkFileError) as error:
        read(tmp_path, "d.dsc", text.replace(old, new, 1))
    assert message in str(error.value)
    assert ", line " in str(error.value)


PGMPY = """{"nodes": ["a", "b"], "arcs": [["a", "b"]], "cpds": {
 "a": {"coefficients": {"(Intercept)": [1.5]}, "variance": [4], "parents": []},
 "b": {"coefficients": {"(Intercept)": [-1], "a": [0.5]}, "variance": [0.25], "parents": ["a"]}}}"""


def test_json_of_pgmpy_is_a_gaussian_network(tmp_path):
    net = read(tmp_path, "p.json", PGMPY)
    ours = BayesianNetwork(
        "a->b", tables={"a": LinearGaussian(mean=1.5, sd=2), "b": LinearGaussian(mean=-1, sd=0.5, a=0.5)}
    )
    assert net == ours
    assert again(net, tmp_path, "json") == net


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"variance": [4]', '"variance": [0]', "must be above 0"),
        ('"variance": [4]', '"variance": ["x"]', "must be one number"),
        ('"parents": ["a"]', '"parents": ["c"]', "must be a list of names of the file"),
        ('"parents": ["a"]', '"parents": []', "has a coefficient for 'a', which is not its parent"),
        ('"nodes": ["a", "b"]', '"nodes": ["a", "a"]', "appears twice"),
        ("[-1]", "[-1", "this is not JSON"),
    ],
)
def test_a_fault_in_json_is_shown_with_its_place(tmp_path, old, new, message):
    assert old in PGMPY
    with pytest.raises(NetworkFileError) as error:
        read(tmp_path, "p.json", PGMPY.replace(old, new, 1))
    assert message in str(error.value)
    assert ", line " in str(error.value)


@pytest.mark.parametrize(
    ("name", "advice"),
    [("x.rda", "write.net"), ("x.rds", "write.bif"), ("x.neta", ".dne"), ("x.dsl", ".xdsl"), ("x.pkl", ".bifxml")],
)
def test_a_file_that_is_not_read_is_refused_with_advice(name, advice):
    with pytest.raises(NetworkError) as error:
        BayesianNetwork.read(name)
    assert advice in str(error.value)


def test_xml_that_says_it_is_latin_is_read_as_such(tmp_path):
    text = GENIE.replace('encoding="UTF-8"', 'encoding="ISO-8859-1"').replace("Influenza", "Grippe fi\u00e8vre")
    (tmp_path / "l.xdsl").write_bytes(text.encode("latin-1"))
    assert BayesianNetwork.read(tmp_path / "l.xdsl").properties["Flu"]["label"] == "Grippe fi\u00e8vre"
