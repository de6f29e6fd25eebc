"""``bayeskit query`` and ``bayeskit sample`` on the command line."""

import csv
import io
import json

import pytest

from bayeskit import BayesianNetwork
from bayeskit.cli.app import run
from bayeskit.cli.question import read_question
from bayeskit.errors import NetworkError
from bayeskit.network import ConditionalGaussian, LinearGaussian, Logistic


@pytest.fixture
def path(tmp_path):
    net = BayesianNetwork(
        "smoke->lung->xray",
        states={"smoke": ["yes", "no"], "lung": ["yes", "no"], "xray": ["abnormal", "normal"]},
        tables={"smoke": [0.5, 0.5], "lung": [[0.1, 0.9], [0.0, 1.0]], "xray": [[0.98, 0.02], [0.05, 0.95]]},
    )
    net.write(tmp_path / "net.bif")
    return str(tmp_path / "net.bif")


def answer(capsys, *arguments):
    code = run(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_posterior_is_a_table_of_states(path, capsys):
    code, out, _ = answer(capsys, "query", path, "P(lung | smoke=yes, xray=abnormal)")
    assert code == 0
    rows = [line.split()[:2] for line in out.splitlines()]
    assert rows[0] == ["lung", "P"]
    assert rows[1][0] == "yes"
    assert float(rows[1][1]) == pytest.approx(0.098 / (0.098 + 0.045), rel=1e-5)


def test_a_joint_an_event_and_an_argmax(path, capsys):
    _, out, _ = answer(capsys, "query", path, "P(lung, smoke | xray=abnormal)")
    assert len(out.splitlines()) == 5
    _, out, _ = answer(capsys, "query", path, "P(lung=yes | smoke={yes, no})")
    assert float(out) == pytest.approx(0.05)
    _, out, _ = answer(capsys, "query", path, "argmax( | smoke=yes)")
    assert [line.split() for line in out.splitlines()] == [
        ["variable", "state"],
        ["lung", "no"],
        ["xray", "normal"],
        ["P", "=", "0.855"],
    ]


def test_a_sampled_answer_says_so(path, capsys):
    code, out, _ = answer(capsys, "query", path, "P(lung | smoke=yes)", "--method", "weighting", "--samples", "5000")
    assert code == 0
    assert "±" in out
    assert "(approximate: weighting, 5000 samples" in out


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("P(lung | smok=yes)", "unknown variable 'smok'; did you mean 'smoke'?"),
        ("P(lung | smoke=often)", "variable 'smoke' has no state 'often'"),
        ("P(lung | smoke=no, lung=yes)", "smoke=no and lung=yes cannot hold together"),
        ("P(lung | smoke)", "'smoke' needs a state, since it is after the bar"),
        ("P(lung | smoke=yes", "expected ')' at the end"),
        ('P(lung | "smoke=yes)', "a quote at character 9 is not closed"),
        ("Q(lung)", "a question starts with P or argmax, not 'Q'"),
        ("P()", "no variable is asked for"),
        ("P(lung, lung)", "'lung' is asked for twice"),
        ("P(lung | smoke=yes, smoke=no)", "'smoke' is given twice"),
        ("P(lung=yes, xray)", "give a state for each variable before the bar, or for none"),
        ("P(lung) P(smoke)", "nothing may follow the closing bracket"),
        ("argmax(lung=yes)", "argmax finds the states"),
        ("", "expected the question at the end"),
    ],
)
def test_a_wrong_question_is_one_paragraph_and_exit_code_1(path, capsys, question, message):
    code, out, err = answer(capsys, "query", path, question)
    assert code == 1
    assert out == ""
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_samplers_that_do_not_fit_the_question_are_refused(path, capsys):
    code, _, err = answer(capsys, "query", path, "P(lung=yes)", "--method", "gibbs")
    assert code == 1
    assert "samples the posterior of one variable" in err


def test_names_with_spaces_go_in_quotes():
    question = read_question("P('night sweat' | \"x, y\"='a b')")
    assert question.names == ["night sweat"]
    assert question.given == {"x, y": "a b"}
    with pytest.raises(NetworkError, match="expected a state"):
        read_question("P(a | b=)")


def test_samples_are_csv_and_the_same_for_the_same_seed(path, capsys, tmp_path):
    code, out, _ = answer(capsys, "sample", path, "-n", "50", "--random-state", "3")
    assert code == 0
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0] == ["smoke", "lung", "xray"]
    assert len(rows) == 51
    target = tmp_path / "cases.csv"
    code, said, _ = answer(capsys, "sample", path, "-n", "50", "--random-state", "3", "-o", str(target))
    assert code == 0
    assert "50 cases of 3 variables" in said
    assert target.read_text() == out


def test_samples_given_evidence_all_agree_with_it(path, capsys):
    code, out, _ = answer(capsys, "sample", path, "-n", "400", "--given", "xray=abnormal", "-g", "smoke=yes")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {(row["smoke"], row["xray"]) for row in rows} == {("yes", "abnormal")}
    share = sum(row["lung"] == "yes" for row in rows) / len(rows)
    assert share == pytest.approx(0.098 / (0.098 + 0.045), abs=0.1)
    code, _, err = answer(capsys, "sample", path, "--given", "xray=odd")
    assert (code, "variable 'xray' has no state 'odd'" in err) == (1, True)


def test_a_missing_file_is_one_paragraph_and_exit_code_1(capsys):
    code, _, err = answer(capsys, "query", "nowhere.bif", "P(a)")
    assert code == 1
    assert "nowhere.bif" in err


def test_an_intervention_is_not_an_observation(path, capsys):
    _, seen, _ = answer(capsys, "query", path, "P(smoke=yes | lung=yes)")
    _, done, _ = answer(capsys, "query", path, "P(smoke=yes | do(lung=yes))")
    assert float(done) == 0.5
    assert float(seen) > 0.9
    code, _, err = answer(capsys, "query", path, "P(smoke | do(lung={yes, no}))")
    assert code == 1
    assert "do sets a variable to one state" in err
    code, _, err = answer(capsys, "query", path, "P(smoke | do(lung=yes), lung=no)")
    assert code == 1
    assert "'lung' is given twice" in err


def test_the_memory_of_an_exact_answer_is_limited(path, capsys):
    code, _, err = answer(capsys, "query", path, "P(lung, smoke, xray)", "--memory", "20")
    assert code == 1
    assert "over the limit of 20 B" in err


def test_each_row_of_a_table_of_cases_gets_an_answer(path, tmp_path, capsys):
    cases = tmp_path / "cases.csv"
    cases.write_text("id,xray,lung\n1,abnormal,no\n2,,yes\n")
    code, out, _ = answer(capsys, "query", path, "P(lung | smoke=yes)", "--cases", str(cases))
    assert code == 0
    net = BayesianNetwork.read(path)
    given = [{"smoke": "yes", "xray": "abnormal"}, {"smoke": "yes"}]
    rows = [[f"{p:.6g}" for p in net.posterior("lung", given=each).array] for each in given]
    assert out.splitlines() == ["P(lung=yes),P(lung=no)", *map(",".join, rows)]
    code, out, _ = answer(capsys, "query", path, "P(lung | smoke=yes)", "--cases", str(cases), "--json")
    assert out.splitlines()[0].startswith('{"yes": 0.')
    cases.write_text("xray,smoke\nabnormal,no\n")
    code, out, err = answer(capsys, "query", path, "P(lung | smoke=yes)", "--cases", str(cases))
    assert out.splitlines()[1:] == [",".join(rows[0])]
    assert "the question says what smoke is; the cells of that column are not used" in " ".join(err.split())
    cases.write_text("id,other\n1,2\n")
    code, _, err = answer(capsys, "query", path, "P(lung)", "--cases", str(cases))
    assert code == 1
    assert "has no column that is a variable of the network" in err
    code, _, err = answer(capsys, "query", path, "argmax(lung)", "--cases", str(cases))
    assert code == 1
    assert "--cases asks for the exact posterior of one variable" in err


def test_a_part_of_a_network_is_drawn(path, tmp_path, capsys):
    code, _, _ = answer(capsys, "draw", path, "-o", str(tmp_path / "part.svg"), "--around", "smoke")
    assert code == 0
    assert (tmp_path / "part.svg").read_text().count('class="node') == 2


def test_a_network_with_real_variables_takes_numbers_as_evidence(capsys, tmp_path):
    line, place = LinearGaussian(mean=-5, sd=1.2, height=0.27), tmp_path / "body.bayes"
    tall = ConditionalGaussian({"f": LinearGaussian(mean=166, sd=6), "m": LinearGaussian(mean=179, sd=7)})
    net = BayesianNetwork("sex{f|m}->height->shoe", tables={"sex": [0.5, 0.5], "height": tall, "shoe": line})
    net.save(place)
    code, out, _ = answer(capsys, "query", str(place), "P(shoe | height=170)")
    assert code == 0
    assert f"mean  {-5 + 0.27 * 170:.6g}" in out
    assert "95 %" in out
    _, out, _ = answer(capsys, "query", str(place), "P(sex | height=170)")
    assert f"{net.posterior('sex', given={'height': 170.0})['f']:.6g}" in out
    _, out, _ = answer(capsys, "query", str(place), "P(shoe | do(height=180))", "--json")
    assert json.loads(out)["mean"] == pytest.approx(-5 + 0.27 * 180)
    code, _, err = answer(capsys, "query", str(place), "P(sex | height=tall)")
    assert code == 1
    assert "evidence on it is a number; got 'tall'" in err
    code, _, err = answer(capsys, "query", str(place), "P(sex)", "--method", "gibbs")
    assert code == 1
    assert "method must be 'auto', 'exact' or 'weighting'" in err


def test_a_link_with_real_parents_is_answered_with_its_error(capsys, tmp_path):
    place = tmp_path / "dose.bayes"
    tables = {"dose": LinearGaussian(mean=2, sd=1), "cured": Logistic(bias=-2, dose=1.0)}
    BayesianNetwork("dose->cured", tables=tables).save(place)
    code, out, _ = answer(capsys, "query", str(place), "P(dose | cured=yes)", "--json")
    assert code == 0
    said = json.loads(out)
    assert 0 < said["standard_error"] < 0.01
    # ∫ x σ(x − 2) N(x; 2, 1) dx / ½, by quadrature
    assert abs(said["mean"] - 2.413242) < 5 * said["standard_error"]
    _, out, _ = answer(capsys, "query", str(place), "P(cured)", "--error", "0.001")
    assert "approximate: weighting" in out
