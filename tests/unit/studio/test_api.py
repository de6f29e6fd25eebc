"""The API answers what the library answers."""

import asyncio
import json
import math
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

import bayeskit
from bayeskit import datasets
from bayeskit.studio.endpoints import ENDPOINTS, openapi

ASIA = datasets.load_asia()


@pytest.fixture(scope="module")
def asia(served):
    return f"/networks/{served.client.post('/examples/asia').json()['id']}"


@pytest.fixture(scope="module")
def heart(served):
    return f"/tables/{served.client.post('/examples/heart').json()['id']}"


@pytest.fixture(scope="module")
def trained(served, heart):
    with served.client.stream("POST", f"{heart}/train", json={"target": "disease", "models": ["NaiveBayes"]}) as answer:
        events = [json.loads(line) for line in answer.iter_lines()]
    return events


@pytest.mark.parametrize(
    ("given", "library"),
    [
        ({"smoke": "yes", "xray": "yes"}, {"smoke": "yes", "xray": "yes"}),
        ({"dysp": {"likelihood": {"yes": 3, "no": 1}}}, {"dysp": {"yes": 3, "no": 1}}),
        ({"lung": ["yes", "no"], "tub": ["yes"]}, {"tub": "yes"}),
    ],
)
def test_posteriors_are_those_of_the_library(served, asia, given, library):
    found = served.ask(f"{asia}/posterior", given=given).json()
    wanted = ASIA.posterior(given=library)
    assert found["p"] == {name: values.tolist() for name, values in wanted.arrays.items()}
    assert math.isclose(found["log_evidence"], wanted.log_evidence, rel_tol=1e-12)


def test_soft_evidence_fixes_the_posterior_of_its_variable(served, asia):
    found = served.ask(f"{asia}/posterior", given={"smoke": {"marginal": {"yes": 0.25, "no": 0.75}}}).json()
    assert np.allclose(found["p"]["smoke"], [0.25, 0.75], rtol=1e-9)


def test_do_cuts_the_arcs(served, asia):
    found = served.ask(f"{asia}/posterior", do={"lung": "yes"}).json()["p"]
    assert np.allclose(found["smoke"], [0.5, 0.5], rtol=1e-12)
    assert np.allclose(found["xray"], ASIA.do(lung="yes").posterior("xray").array, rtol=1e-12)


def test_variables_that_the_target_has_nothing_to_do_with_are_named(served, asia):
    found = served.ask(f"{asia}/posterior", given={"smoke": "yes"}, target="lung").json()["separated"]
    wanted = [n for n in ASIA.names if n not in ("smoke", "lung") and ASIA.d_separated("lung", n, ["smoke"])]
    assert found == wanted


def test_explanation_conflict_questions_and_sensitivity_are_those_of_the_library(served, asia):
    given = {"xray": "yes", "smoke": "no"}
    best = ASIA.most_probable(given=given)
    assert served.ask(f"{asia}/explanation", given=given).json()["states"] == dict(best.items())
    assert math.isclose(served.ask(f"{asia}/conflict", given=given).json()["conflict"], ASIA.conflict(given).value)
    asked = served.ask(f"{asia}/questions", target="lung", given=given).json()["questions"]
    assert asked[0]["variable"] == ASIA.questions("lung", given=given)[0].variable
    bars = served.ask(f"{asia}/sensitivity", target="lung", given=given).json()
    widest = bars["numbers"][0]
    i = ASIA.index(widest["variable"])
    table = np.array(ASIA.tables[i])
    place = tuple(ASIA.state(n, s) for n, s in widest["given"].items())
    k = ASIA.state(widest["variable"], widest["state"])
    high = min(widest["value"] + bars["swing"], 1.0)
    table[place] = np.where(np.arange(2) == k, high, 1 - high)
    moved = ASIA.with_table(widest["variable"], table).posterior("lung", given=given)[bars["state"]]
    assert min(abs(moved - widest["low"]), abs(moved - widest["high"])) < 1e-12


def test_impossible_evidence_is_refused_by_name(served, asia):
    answer = served.ask(f"{asia}/posterior", given={"either": "no", "lung": "yes"})
    assert answer.status_code == 422
    assert "lung=yes" in answer.json()["error"]["what"]


def test_changes_are_made_undone_and_saved_only_when_asked(tmp_path):
    from tests.unit.studio.conftest import Served

    file = tmp_path / "asia.bif"
    ASIA.write(file)
    before = file.read_bytes()
    own = Served([file])
    try:
        (document,) = own.client.get("/documents").json()
        base = f"/networks/{document['id']}"
        changed = own.edit(base, "change", change="table", variable="smoke", rows=[[0.25, 0.75]]).json()
        assert (changed["undo"], changed["redo"], changed["changed"]) == (True, False, True)
        assert own.ask(f"{base}/posterior").json()["p"]["smoke"] == pytest.approx([0.25, 0.75], rel=1e-12)
        own.edit(base, "change", change="add-variable", variable="cough", states=["no", "yes"])
        own.edit(base, "change", change="add-arc", arc=["bronc", "cough"])
        loop = own.edit(base, "change", change="add-arc", arc=["cough", "smoke"])
        assert loop.status_code == 422
        assert "cycle" in loop.json()["error"]["what"]
        own.edit(base, "change", change="remove-variable", variable="asia")
        assert file.read_bytes() == before
        for _ in range(4):
            last = own.edit(base, "undo").json()
        assert (last["undo"], last["redo"], last["changed"]) == (False, True, False)
        own.edit(base, "redo")
        assert own.edit(base, "save").json()["changed"] is False
        assert bayeskit.BayesianNetwork.read(file).posterior("smoke")["yes"] == pytest.approx(0.25, rel=1e-12)
        copy = own.client.get(f"{base}/file", params={"format": "xmlbif"}).content
        (tmp_path / "copy.xmlbif").write_bytes(copy)
        assert bayeskit.BayesianNetwork.read(tmp_path / "copy.xmlbif").posterior("smoke")["yes"] == pytest.approx(
            0.25, rel=1e-12
        )
    finally:
        own.stop()


def test_each_version_of_a_network_is_answered_for_itself(served):
    base = f"/networks/{served.client.post('/examples/asia').json()['id']}"
    for share in (0.1, 0.2, 0.3, 0.4):
        served.edit(base, "change", change="table", variable="smoke", rows=[[share, 1 - share]])
        assert served.ask(f"{base}/posterior").json()["p"]["smoke"][0] == pytest.approx(share, rel=1e-12)
        acted = served.ask(f"{base}/posterior", do={"lung": "yes"}).json()["p"]["smoke"][0]
        assert acted == pytest.approx(share, rel=1e-12)
        served.edit(base, "undo")
        assert served.ask(f"{base}/posterior").json()["p"]["smoke"][0] == pytest.approx(0.5, rel=1e-12)


def test_an_uploaded_network_cannot_be_saved_over_a_file_of_the_machine(served, asia):
    answer = served.edit(asia, "save")
    assert answer.status_code == 422
    assert "download" in answer.json()["error"]["what"]


def test_columns_of_a_table_come_with_their_kind_and_why(served, heart):
    found = served.ask(f"{heart}/columns", target="disease", kinds={"vessels": "numeric"}).json()
    notes = {each["name"]: each for each in found["columns"]}
    assert (notes["disease"]["kind"], notes["vessels"]["kind"], notes["vessels"]["why"]) == (
        "target",
        "numeric",
        "you said so",
    )
    assert found["rows"] == 303


def test_training_tells_each_trial_and_ends_with_a_model_and_a_report(served, heart, trained, tmp_path):
    assert [event["trial"]["name"] for event in trained if "trial" in event] == ["NaiveBayes"]
    done = trained[-1]["done"]
    assert done["best"] == "NaiveBayes"
    file = served.client.get(f"/classifiers/{done['classifier']['id']}/file").content
    (tmp_path / "m.bayes").write_bytes(file)
    model = bayeskit.load(tmp_path / "m.bayes")
    wanted = bayeskit.compare(datasets.load_heart(), target="disease", models=["NaiveBayes"]).best.scores
    board = {each["name"]: each for each in done["board"]}
    assert model.classes_.tolist() == ["no", "yes"]
    assert math.isclose(board["NaiveBayes"]["scores"]["log_loss"]["value"], wanted.log_loss.value, rel_tol=0.2)
    report = served.client.get(f"{heart}/report")
    assert report.text.startswith("<!DOCTYPE html>")
    assert "sandbox" in report.headers["content-security-policy"]


def test_a_case_is_explained_as_the_library_does(served, heart, trained, tmp_path):
    base = f"/classifiers/{trained[-1]['done']['classifier']['id']}"
    (tmp_path / "m.bayes").write_bytes(served.client.get(f"{base}/file").content)
    model = bayeskit.load(tmp_path / "m.bayes")
    row = {"sex": "male", "thal": "normal", "age": 61.0}
    found = served.ask(f"{base}/explain", row=row, loss=[[0, 1], [9, 0]]).json()
    case = {name: [row.get(name)] for name in model.schema_.names}
    posterior = model.predict_proba(case)[0]
    assert np.allclose(found["posterior"], posterior, rtol=1e-12)
    assert np.allclose(found["risks"], posterior @ np.array([[0, 1], [9, 0]]), rtol=1e-12)
    assert found["decision"] == ("yes" if posterior[1] * 9 > posterior[0] else "no")
    assert math.isclose(found["regions"][0]["high"], 0.1, rel_tol=1e-12)
    asked = bayeskit.value_of_information(model, row, [[0, 1], [9, 0]])
    assert found["questions"][0]["feature"] == asked[0].feature
    del row["age"]
    turned = served.ask(f"{base}/what-if", row=row).json()
    wanted = bayeskit.what_if(model, row, max_changes=2)
    assert turned["changes"] == wanted.changes
    third = served.ask(f"{base}/row", table=heart.rsplit("/", 1)[1], number=3).json()["row"]
    assert (third["age"], third["sex"]) == (67.0, "male")
    assert served.ask(f"{base}/row", table=heart.rsplit("/", 1)[1], number=304).status_code == 422


def test_an_empty_field_is_a_cell_that_was_not_asked_for_and_not_one_recorded_as_missing(served, tmp_path):
    table = datasets.load_heart()
    model = bayeskit.AutoBayes(effort="fast").fit(table, target="disease")
    path = tmp_path / "auto.bayes"
    model.save(path)
    base = f"/classifiers/{served.open('auto.bayes', path.read_bytes())}"
    answer = served.ask(f"{base}/explain", row={"thal": "normal", "age": None}).json()
    columns = {name: ["normal" if name == "thal" else None] for name in model.schema_.names}
    hidden = np.array([[name != "thal" for name in columns]])
    assert answer["posterior"] == pytest.approx(
        np.exp(model.log_posterior_hiding(columns, hidden))[0].tolist(), rel=1e-12
    )
    worth = {each.feature: each.value for each in bayeskit.value_of_information(model, {"thal": "normal"})}
    assert answer["questions"]
    assert {q["feature"]: q["value"] for q in answer["questions"]} == pytest.approx(
        {q["feature"]: worth[q["feature"]] for q in answer["questions"]}, rel=1e-9
    )


def test_predictions_for_a_second_table_come_as_csv(served, trained):
    base = f"/classifiers/{trained[-1]['done']['classifier']['id']}"
    answer = served.client.post(
        f"{base}/predictions", params={"name": "two.csv"}, content=b"sex,thal\nmale,normal\nfemale,\n"
    )
    assert answer.status_code == 200
    lines = answer.text.splitlines()
    assert lines[0].split(",")[:3] == ["sex", "thal", "prediction"]
    assert len(lines) == 3


def test_a_network_is_learned_under_constraints(served, tmp_path):
    rows = bayeskit.BayesianNetwork("A->C<-B", random_tables=3).sample(2000, random_state=0)
    text = "A,B,C\n" + "\n".join(",".join(cells) for cells in zip(*(rows[n] for n in "ABC"), strict=True))
    table = f"/tables/{served.open('abc.csv', text.encode())}"

    def learn(**body):
        answer = served.ask(f"{table}/learn", method="hill-climb", **body)
        return json.loads(answer.text.splitlines()[-1])["done"]

    free = learn()
    assert {tuple(arc) for arc in free["structure"]} == {("A", "C"), ("B", "C")}
    found = served.ask(f"/networks/{free['network']['id']}/geometry").json()
    assert {(arc["from"], arc["to"]) for arc in found["arcs"]} == {("A", "C"), ("B", "C")}
    bound = learn(whitelist=[["C", "A"]], blacklist=[["B", "C"]])
    arcs = served.ask(f"/networks/{bound['network']['id']}/geometry").json()["arcs"]
    pairs = {(arc["from"], arc["to"]) for arc in arcs}
    assert ("C", "A") in pairs
    assert ("B", "C") not in pairs


def test_the_page_learns_why_arcs_are_there_what_came_next_and_how_sure_they_are(served):
    rows = datasets.load_asia().sample(3000, random_state=0)
    text = ",".join(rows) + "\n" + "\n".join(",".join(cells) for cells in zip(*rows.values(), strict=True))
    answer = served.ask(f"/tables/{served.open('asia.csv', text.encode())}/learn", method="ges", strength=10)
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert [event["resampled"] for event in events if "resampled" in event] == list(range(1, 11))
    why = events[-1]["done"]["why"]
    sure = bayeskit.arc_strength(rows, n_networks=10)
    reasons = bayeskit.arc_reasons(bayeskit.learn_structure(rows, "ges").network, rows, n_candidates=2)
    assert [(arc["from"], arc["to"], arc["gain"]) for arc in why["arcs"]] == [
        arc[:2] + arc[3:4] for arc in reasons.arcs
    ]
    for arc in why["arcs"]:
        a, b = sure.names.index(arc["from"]), sure.names.index(arc["to"])
        assert (arc["strength"], arc["direction"]) == (sure.strength[a, b], sure.direction[a, b])
        assert arc["rows"] == 3000
    gains = [arc["gain"] for arc in why["candidates"]]
    assert gains == sorted(gains, reverse=True)
    assert 0 < len(gains) <= 20


def test_the_events_of_a_search_add_up_to_the_network_that_it_returns(served):
    rows = datasets.load_asia().sample(3000, random_state=0)
    text = ",".join(rows) + "\n" + "\n".join(",".join(cells) for cells in zip(*rows.values(), strict=True))
    answer = served.ask(f"/tables/{served.open('asia.csv', text.encode())}/learn", method="hill-climb")
    first, *steps, last = map(json.loads, answer.text.splitlines())
    assert first == {"variables": list(rows)}
    arcs = set()
    for step in steps:
        removed, added = ({tuple(arc) for arc in step[each]} for each in ("removed", "added"))
        assert removed <= arcs
        assert not added & arcs
        arcs = arcs - removed | added
    assert arcs == {tuple(arc) for arc in last["done"]["structure"]}
    assert len(arcs) > 3


def test_work_stops_when_the_client_leaves_and_the_next_question_is_answered(served):
    slow = bayeskit.BayesianNetwork([(f"a{i}", f"b{j}") for i in range(12) for j in range(12)], random_tables=0)
    import tempfile
    from pathlib import Path

    path = Path(tempfile.mkdtemp()) / "dense.bif"
    slow.write(path)
    base = f"/networks/{served.open('dense.bif', path.read_bytes())}"
    served.ask(f"{base}/table", variable="a0")

    async def leave():
        headers = {"authorization": f"Bearer {served.token}"}
        async with httpx.AsyncClient(base_url=f"{served.base}/api/v1", headers=headers, timeout=60) as client:
            task = asyncio.create_task(
                client.post(f"{base}/sensitivity", json={"target": "b0", "given": {"b1": "yes"}})
            )
            await asyncio.sleep(0.4)
            task.cancel()

    leaving = threading.Thread(target=lambda: asyncio.run(leave()))  # a browser of another test may keep a loop here
    leaving.start()
    leaving.join()
    start = time.monotonic()
    answer = served.ask(f"{base}/questions", target="a0")
    assert answer.status_code == 200
    assert time.monotonic() - start < 30
    served.client.delete(f"/documents/{base.rsplit('/', 1)[1]}")


def test_many_clients_ask_at_once_and_all_get_their_own_answer(served, asia):
    wrong = []

    def client(k):
        with httpx.Client(base_url=f"{served.base}/api/v1", headers=served.client.headers, timeout=60) as own:
            for step in range(10):
                name = ASIA.names[(k + step) % 8]
                answer = own.post(f"{asia}/posterior", json={"given": {name: "yes"}}).json()["p"]
                if abs(answer[name][0] - 1) > 1e-9:
                    wrong.append((k, step))

    threads = [threading.Thread(target=client, args=(k,)) for k in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_api_is_described_with_every_endpoint(served):
    found = served.client.get("/openapi.json").json()
    assert found == json.loads(json.dumps(openapi()))
    assert {(each.path, each.method.lower()) for each in ENDPOINTS} == {
        (path, method) for path, entry in found["paths"].items() for method in entry
    }


def test_old_documents_are_let_go_when_too_many_are_open(served, monkeypatch):
    monkeypatch.setattr("bayeskit.studio.documents.MOST_OPEN", len(list(served.studio.documents)) + 1)
    kept = [served.open(f"t{k}.csv", b"a,b\nx,y\n") for k in range(3)]
    assert served.client.get(f"/documents/{kept[2]}").status_code == 200


def test_a_row_of_a_table_is_evidence_and_numbers_fall_into_bins(served):
    table = f"/tables/{served.client.post('/examples/penguins').json()['id']}"
    with served.client.stream("POST", f"{table}/learn", json={"method": "chow-liu"}) as answer:
        network = json.loads(list(answer.iter_lines())[-1])["done"]["network"]["id"]
    found = served.ask(f"/networks/{network}/case", table=table.rsplit("/", 1)[1], number=1).json()
    row = {name: values[0] for name, values in datasets.load_penguins().items()}
    assert found["given"]["species"] == row["species"]
    low, high = (float(end) for end in found["given"]["bill_length_mm"].strip("[()").split(", "))
    assert low <= float(row["bill_length_mm"]) < high
    assert served.ask(f"/networks/{network}/case", table=table.rsplit("/", 1)[1], number=10**6).status_code == 422


def test_the_reference_lists_every_question():
    page = (Path(__file__).parents[3] / "docs" / "reference" / "studio.md").read_text("utf-8")
    assert [each for each in ENDPOINTS if f"| `{each.method} {each.path}` | {each.summary} |" not in page] == []
