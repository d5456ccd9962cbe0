"""What every answer tells a browser: who may frame a page, and what runs in it."""

from __future__ import annotations

import base64
import hashlib
import http.client
import http.server
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from arena.home import open_home
from dashboards.headers import front_page, headers
from dashboards.serving import served
from dashboards.settings import Settings, Submitting
from tests.dashboards.conftest import Browse

PATHS = (
    "/",
    "/submit?ticket=00",
    "/favicon.png",
    "/_stcore/health",
    "/_stcore/host-config",
    "/_stcore/stream",  # without an upgrade
    "/_stcore/agent/openapi.json",
    "/media/nothing.png",
    "/component/nothing/index.html",
    "/static/nothing.js",
    "/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/no/such/page",
    "/" + "x" * 5_000,
)


@pytest.fixture(scope="module")
def address(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("headers")
    settings = Settings(open_home(folder / "home").path, submitting=Submitting.OFF)
    with served(settings, folder / "log") as url:
        yield url


def protected(found: http.client.HTTPMessage | dict[str, str], place: str) -> None:
    said = {name.lower(): value for name, value in found.items()}
    assert "frame-ancestors 'none'" in said["content-security-policy"], place
    assert "default-src 'self'" in said["content-security-policy"], place
    assert said["x-frame-options"] == "DENY", place
    assert said["x-content-type-options"] == "nosniff", place
    assert said["referrer-policy"] == "no-referrer", place
    assert "server" not in said, place


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_every_answer_is_protected(address: str, method: str) -> None:
    for path in PATHS:
        with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)) as client:
            client.request(method, path)
            answer = client.getresponse()
            protected(answer.headers, f"{method} {path[:40]}: {answer.status}")


@pytest.mark.parametrize("path", ["/_stcore/stream", "/no/such/socket"])
@pytest.mark.parametrize("origin", ["", "http://elsewhere.example"])
def test_handshakes_are_protected(address: str, path: str, origin: str) -> None:
    where = urlsplit(address)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {where.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        f"Origin: {origin or address}",
        "Sec-WebSocket-Protocol: streamlit",
    ]
    with socket.create_connection((where.hostname, where.port), timeout=30) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = connection.makefile("rb")
        status = int(answer.readline().split()[1])
        protected(dict(http.client.parse_headers(answer)), f"{path} {origin}: {status}")
    assert (status == 101) is (path == "/_stcore/stream" and not origin)


def test_scripts_are_named_by_their_digests() -> None:
    inline = "alert('a')\n"
    found = dict(headers(f"<script>{inline}</script><script src='x'></script>"))
    policy = found["Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    (scripts,) = [part for part in policy.split("; ") if part.startswith("script-src")]
    assert "unsafe-inline" not in scripts
    assert "'unsafe-eval'" not in scripts
    assert policy.count("sha256-") == 1
    assert dict(headers(front_page()))["Content-Security-Policy"].count("sha256-") >= 1


@pytest.mark.browser
def test_a_browser_refuses_frames_and_foreign_scripts(
    address: str, browse: Browse, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text(f"<iframe src='{address}/' name='framed'></iframe>ready")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *rest: object) -> None:
            super().__init__(*rest, directory=str(tmp_path))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with browse(f"http://127.0.0.1:{other.server_port}") as browser:
            browser.go("/index.html")
            browser.wait_for("ready")
            assert any("frame-ancestors" in said for said in browser.console_errors())
        other.shutdown()
    with browse(address) as browser:
        browser.open("/about?game=leduc")
        assert browser.console_errors() == []
        browser.run(
            "const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
            "document.body.append(s);"
        )
        assert browser.run("return window.ran === undefined")
        assert any("Content Security Policy" in said for said in browser.console_errors())
