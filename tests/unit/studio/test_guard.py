"""Who may talk to the studio."""

import json

import httpx
import pytest

from bayeskit.studio.endpoints import ENDPOINTS


def test_without_the_token_nothing_is_answered(served):
    for path in ("/", "/static/main.js", "/look.css", "/api/v1/documents", "/api/v1/openapi.json"):
        answer = httpx.get(served.base + path)
        assert answer.status_code == 401, path
        assert served.token not in answer.text


def test_a_wrong_token_is_refused(served):
    assert httpx.get(f"{served.base}/?token=wrong").status_code == 401
    wrong = httpx.get(f"{served.base}/api/v1/documents", headers={"authorization": "Bearer wrong"})
    assert wrong.status_code == 401
    cookie = f"bayeskit_studio_{served.base.rsplit(':', 1)[1]}=wrong"
    assert httpx.get(f"{served.base}/", headers={"cookie": cookie}).status_code == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(served):
    answer = httpx.get(f"{served.base}/?token={served.token}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    name, value = cookie.split(";")[0].split("=", 1)
    assert httpx.get(served.base, headers={"cookie": f"{name}={value}"}).status_code == 200
    assert served.token not in cookie  # another value, of this browser alone
    assert httpx.get(f"{served.base}/?token={served.token}").headers["set-cookie"].split(";")[0] != f"{name}={value}"
    assert httpx.get(served.base, headers={"cookie": f"{name}={served.token}"}).status_code == 401
    assert httpx.get(served.base, headers={"authorization": f"Bearer {value}"}).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1"},  # without the port
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    ],
)
def test_a_page_from_elsewhere_is_refused_even_with_the_token(served, headers):
    headers = {"authorization": f"Bearer {served.token}", **headers}
    assert httpx.get(f"{served.base}/api/v1/documents", headers=headers).status_code == 403


def test_every_answer_carries_a_policy_that_allows_no_inline_script_and_nothing_from_outside(served):
    for path in ("/", "/api/v1/documents", "/static/main.js", "/nowhere"):
        answer = httpx.get(served.base + path, headers={"authorization": f"Bearer {served.token}"})
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_the_page_loads_nothing_from_outside_and_has_no_inline_script(served):
    page = httpx.get(served.base, headers={"authorization": f"Bearer {served.token}"}).text
    assert "http://" not in page
    assert "https://" not in page
    assert page.count("<script") == 1
    assert 'src="/static/main.js"></script>' in page


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd"])
def test_no_path_leads_out_of_the_static_folder(served, path):
    answer = httpx.get(served.base + path, headers={"authorization": f"Bearer {served.token}"})
    assert answer.status_code in (401, 404)


def test_an_upload_over_the_limit_is_refused_before_it_is_read(tmp_path):
    from tests.unit.studio.conftest import Served

    small = Served(max_upload=1 << 20)
    try:
        answer = small.client.post("/documents", params={"name": "x.csv"}, content=b"a,b\n" * (1 << 19))
        assert answer.status_code == 413
        assert "MiB" in answer.json()["error"]["what"]
        assert small.client.get("/documents").json() == []
    finally:
        small.stop()


def test_a_name_with_a_path_stays_in_the_folder_of_uploads(served):
    id = served.open("../../../tmp/evil.csv", b"a,b\nx,y\nz,w\n")
    document = served.studio.documents.find(id)
    assert document.name == "evil.csv"
    assert served.studio.documents.folder in document.file.parents


def test_an_error_does_not_tell_where_uploads_are_kept(served):
    answer = served.client.post("/documents", params={"name": "bad.bif"}, content=b"network {")
    assert answer.status_code == 422
    said = answer.json()["error"]["what"]
    assert str(served.studio.documents.folder) not in said
    assert "bad.bif" in said


def test_a_thousand_malformed_requests_get_a_refusal_and_nothing_else(served):
    rubbish = [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b'{"given": 3}',
        b'{"given": {"a": {"b": []}}}',
        b"\xff\xfe",
        b'{"x": NaN}',
    ]
    rubbish += [b"[" * 100_000, json.dumps({"given": {"x" * 9000: "y"}}).encode()]
    paths = [each.path for each in ENDPOINTS if each.method == "POST" and not each.upload]
    found = set()
    for k in range(1000):
        path = paths[k % len(paths)].replace("{id}", "nobody" if k % 3 else "..").replace("{name}", "x")
        found.add(served.client.post(path, content=rubbish[k % len(rubbish)]).status_code)
    assert found <= {404, 405, 413, 422}
