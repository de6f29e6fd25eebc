"""What a stranger sends is refused or answered within the studio's budget, and others do not notice."""

import asyncio
import gzip
import io
import os
import signal
import socket
import threading
import time
import zipfile

import httpx
import pytest

from bayeskit.studio import responses
from bayeskit.studio.budget import LEAST, Budget
from bayeskit.studio.connections import bounded_protocol
from bayeskit.studio.shapes import EVIDENCE, NUMBER, TEXT, ShapeError, check
from bayeskit.studio.workers import Lane, WorkError
from tests.unit.studio.conftest import Served


def workbook(n_rows):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for _ in range(n_rows):
        sheet.append(["x"])
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


def model_of_empty_lists(n_bytes):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("model.json", b"[" + b"[]," * (n_bytes // 3) + b"[]]")
    return packed.getvalue()


LAUGHS = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10 if k else "ha"}">' for k in range(12))
BOMBS = {
    "laughs.xmlbif": f"<!DOCTYPE BIF [{LAUGHS}]><BIF><NETWORK><NAME>&a11;</NAME></NETWORK></BIF>".encode(),
    "deep.bif.gz": gzip.compress(bytes(300 << 20), 1),
    "zeros.csv.gz": gzip.compress(b"a,b\n" + b"1,2\n" * (10 << 20), 1),
    "lists.bayes": model_of_empty_lists(45 << 20),
}


@pytest.fixture(scope="module")
def small():
    """A studio with little memory."""
    studio = Served(memory=1 << 30)
    yield studio
    studio.stop()


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_in_a_sentence_and_leave_nothing_behind(small, name):
    before = set(small.studio.documents.folder.iterdir())
    answer = small.client.post("/documents", params={"name": name}, content=BOMBS[name])
    if answer.status_code == 200:  # answered within the budget
        small.client.delete(f"/documents/{answer.json()['id']}")
    else:
        assert answer.status_code == 422
        assert len(answer.json()["error"]["what"]) < 1500
    assert set(small.studio.documents.folder.iterdir()) == before
    assert small.studio.documents.budget.held <= small.studio.documents.budget.total


def test_others_get_their_answers_while_a_long_workbook_is_read(small):
    id = small.client.post("/examples/asia").json()["id"]
    small.ask(f"/networks/{id}/posterior")
    bomb = workbook(20_000)
    done = []

    def send():
        with httpx.Client(base_url=small.client.base_url, headers=small.client.headers, timeout=300) as client:
            done.append(client.post("/documents", params={"name": "rows.xlsx"}, content=bomb))

    sending = threading.Thread(target=send)
    sending.start()
    answered = 0
    while sending.is_alive() and answered < 2000:
        assert small.ask(f"/networks/{id}/posterior", given={"smoke": "yes"}).status_code == 200
        answered += 1
    sending.join()
    assert answered > 3
    assert done[0].status_code in (200, 422)


def test_a_worker_that_dies_says_what_happened():
    async def killed():
        lane = Lane(Budget(LEAST))
        task = asyncio.ensure_future(lane.ask("table", (0, None), {"variable": "x"}, "quick"))
        while lane._process is None or lane._process.pid is None:
            await asyncio.sleep(0.001)
        os.kill(lane._process.pid, signal.SIGKILL)
        try:
            await task
        finally:
            lane.close()

    with pytest.raises(WorkError, match=r"was killed \(SIGKILL\)"):
        _run(killed())


def test_a_worker_that_dies_before_its_question_comes_says_what_happened():
    async def killed():
        lane = Lane(Budget(LEAST))
        lane._start()
        os.kill(lane._process.pid, signal.SIGKILL)
        lane._process.join()
        lane._start = lambda: None  # it looked alive a moment ago
        try:
            await lane.ask("table", (0, None), {"variable": "x"}, "quick")
        finally:
            lane.close()

    with pytest.raises(WorkError, match=r"was killed \(SIGKILL\)"):
        _run(killed())


def test_a_task_may_take_its_share_of_the_memory_and_no_more(tmp_path):
    (tmp_path / "long.bif").write_bytes(b"x" * (80 << 20))

    async def ask(total):
        lane = Lane(Budget(total))
        try:
            await lane.ask("open", (0, tmp_path / "long.bif"), {}, "open")
        finally:
            lane.close()

    with pytest.raises(WorkError, match="more than the 32 MiB of memory that it may have"):
        _run(ask(LEAST))
    with pytest.raises(WorkError, match=r"long\.bif"):  # read, and refused for what it is
        _run(ask(16 << 30))


def test_who_holds_least_comes_first_and_who_rests_gives_way():
    async def run():
        budget = Budget(8 << 20)  # two quick tasks at a time
        ended = []
        one, two, three, four = (object() for _ in range(4))
        await budget.take(one, "quick", "greedy")
        await budget.take(two, "quick", "greedy")
        waiting = asyncio.ensure_future(budget.take(three, "quick", "greedy"))
        await asyncio.sleep(0)
        modest = asyncio.ensure_future(budget.take(four, "quick", "modest"))
        await asyncio.sleep(0)
        assert budget.held == 2 << 20
        budget.release(one)
        await modest  # came later, and holds nothing
        assert not waiting.done()
        budget.rest(two, 1 << 20, lambda: ended.append(two))
        await waiting
        assert ended == [two]
        await budget.take(object(), "long", "greedy")  # another pool
        for holder in (three, four):
            budget.release(holder)
        assert budget.held == 2 << 20

    _run(run())


def test_half_sent_requests_keep_nobody_out(monkeypatch):
    monkeypatch.setattr(
        "bayeskit.studio.serve.bounded_protocol", lambda: bounded_protocol(header_seconds=1, most_per_address=40)
    )
    studio = Served()
    port = int(studio.base.rsplit(":", 1)[1])
    half = []
    try:
        for _ in range(420):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127")
            half.append(connection)
        assert studio.client.get("/documents").status_code == 200
        while len(studio.running.server.server_state.connections) > 41:  # those that gave way are being closed
            time.sleep(0.01)
        half[-1].settimeout(60)
        assert half[-1].recv(1) == b""  # closed: the headers did not come in time
    except ConnectionResetError:
        pass  # closed without a word
    finally:
        for connection in half:
            connection.close()
        studio.stop()


def test_a_body_that_stops_is_refused(served, monkeypatch):
    monkeypatch.setattr(responses, "SILENCE", 0.2)
    port = int(served.base.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(
            f"POST /api/v1/documents?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer "
            f"{served.token}\r\nContent-Length: 100\r\n\r\na,b\n".encode()
        )
        connection.settimeout(60)
        assert connection.recv(4096).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    ("value", "shape", "said"),
    [
        (10**400, NUMBER, "between -1e300 and 1e300; got 1000"),
        (-1.7e308, NUMBER, "between -1e300 and 1e300"),
        ("a\ud800", TEXT, "half a character"),
        ({"\udc00": "x"}, EVIDENCE, "half a character"),
        ({"a": None}, EVIDENCE, "none of the forms"),
    ],
)
def test_hostile_numbers_and_texts_are_refused_clearly(value, shape, said):
    with pytest.raises(ShapeError, match=said) as refused:
        check(value, shape)
    assert len(str(refused.value)) < 200


def test_hostile_numbers_in_requests_are_refused(served):
    id = served.client.post("/examples/asia").json()["id"]
    for body in (b'{"version": 1%s}' % (b"0" * 400), b'{"version": 0, "change": "rename", "variable": "\\ud800"}'):
        answer = served.client.post(f"/networks/{id}/change", content=body)
        assert answer.status_code == 422, answer.text
    ragged = b"a,b\n1,2\n" + b"x" * 200_000 + b",2,3\n" + b'"' + b"y" * 200_000 + b'",1\n'
    answer = served.client.post("/documents", params={"name": "ragged.csv"}, content=ragged)
    assert answer.status_code in (200, 422)
    assert len(answer.content) < 3000


def test_a_page_with_hostile_evidence_in_its_address_is_shown(page_of, served):
    id = served.client.post("/examples/asia").json()["id"]
    page = page_of(
        f"#doc={id}&given=" + '{"smoke":null,"xray":{"likelihood":3},"lung":[1,2]}' + "&do=" + '{"tub":null}'
    )
    page.wait_for_selector(".bar-value")
    page.wait_for_function("() => document.querySelectorAll('.chip').length === 0")


def _run(work):
    result = []

    def target():
        try:
            result.append((asyncio.run(work), None))
        except BaseException as error:
            result.append((None, error))

    thread = threading.Thread(target=target)  # a browser of another test may keep a loop here
    thread.start()
    thread.join()
    value, error = result[0]
    if error is not None:
        raise error
    return value
