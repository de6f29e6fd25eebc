"""Access control of the studio: only a browser with the token, and no page from other origins."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Scripts and styles from this server only; a report brings its own, stricter, policy.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
STRANGER = (
    "This page belongs to whoever started bayeskit studio. Open the address that the command printed: it ends in "
    "?token=… and lets this browser in."
)


class Guard:
    """Checks each request before anything else sees it, and puts the headers on each answer.

    ``hosts`` are the values of the Host header that mean this server: a page elsewhere that points its own name to this
    machine sends another one. ``cookie`` is named after the port, since cookies do not tell ports apart.
    """

    def __init__(self, app: App, token: str, hosts: set[str], cookie: str) -> None:
        self.app, self.token, self.hosts, self.cookie = app, token, hosts, cookie
        self._key = secrets.token_bytes(32)  # of this run: a cookie of an earlier one is not taken

    def _signed(self, browser: str) -> str:
        """Return the cookie of a browser: a name of its own, signed for this port; the token is not in it."""
        sign = hmac.digest(self._key, f"{self.cookie}:{browser}".encode("latin-1", "replace"), "sha256").hex()
        return f"{browser}.{sign}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # there are no web sockets here

        async def safe_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name for name, _ in message["headers"]}
                more = {**HEADERS, "content-security-policy": POLICY}
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in more.items() if name.encode() not in there),
                ]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(headers)
        if refusal:
            await _say(safe_send, scope, 403, refusal)
        elif scope["path"] == "/" and "token" in (query := parse_qs(scope["query_string"].decode("latin-1"))):
            await self._let_in(safe_send, scope, query["token"][-1])
        elif not (client := self._known(headers, scope)):
            await _say(safe_send, scope, 401, STRANGER)
        else:
            scope["bayeskit.client"] = client
            await self.app(scope, receive, safe_send)

    def _refusal(self, headers: dict[str, str]) -> str:
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            return f"The Host header says {host[:100]!r}; this server answers to {', '.join(sorted(self.hosts))}."
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in self.hosts}:
            return f"A page from {origin[:100]!r} must not talk to this server."
        elsewhere = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        # Following a link from elsewhere is allowed; the cookie stays behind then (SameSite).
        if elsewhere and headers.get("sec-fetch-mode") != "navigate":
            return "A page from elsewhere must not talk to this server."
        return ""

    def _known(self, headers: dict[str, str], scope: Scope) -> str:
        """Return who asks: a browser by the name in its cookie, a program by its address; "" for a stranger."""
        bearer = headers.get("authorization", "")
        if bearer.startswith("Bearer "):
            known = hmac.compare_digest(bearer[7:].encode("latin-1", "replace"), self.token.encode())
            return f"address {(scope.get('client') or ('',))[0]}" if known else ""
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        if cookie is None:
            return ""
        browser = cookie.value.partition(".")[0]
        known = hmac.compare_digest(
            cookie.value.encode("latin-1", "replace"), self._signed(browser).encode("latin-1", "replace")
        )
        return f"browser {browser}" if known else ""

    async def _let_in(self, send: Send, scope: Scope, token: str) -> None:
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            await _say(send, scope, 401, STRANGER)
            return
        # The token leaves the address; the browser keeps the fragment.
        cookie = f"{self.cookie}={self._signed(secrets.token_hex(8))}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def _say(send: Send, scope: Scope, status: int, sentence: str) -> None:
    wants_json = scope["path"].startswith("/api/")
    body = json.dumps({"error": {"where": "request", "what": sentence}}) if wants_json else sentence + "\n"
    kind = b"application/json" if wants_json else b"text/plain; charset=utf-8"
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
    await send({"type": "http.response.body", "body": body.encode()})
