"""Attempts end when their time is over, whatever trickles in; real SDKs, a server of our own."""

import logging
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from oracle.models import deadline, gemini, openai_compatible
from oracle.models.errors import ModelUnavailable
from oracle.models.gemini import GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Request
from oracle.models.retry import Caller, RetryPolicy, Transient
from oracle.models.text_completions import TextModel
from tests.oracle.llm_server import LLMServer, Step, Trickle, connected

ASKED = Request("k01/a00", "ping the server")
TIME = 0.5
"""Seconds of an attempt."""
LONG = 2.5
"""Seconds in which a server is done that is waited for as long as it sends."""
LATE = 1.0
"""Seconds behind its end at which an attempt has ended, on a machine that is busy, too."""
KINDS = {"gemini": GeminiModel, "openai": OpenAIModel, "text": TextModel}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("OPENAI_BASE_URL", "GOOGLE_API_KEY", "GOOGLE_GENAI_HTTP_CLIENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234")
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-secret")


@contextmanager
def asking(kind: str, url: str, seconds: float = TIME, attempts: int = 1):
    """A model of this kind behind an address, which does not wait between its attempts.

    Its package is imported: the first time takes seconds.
    """
    options = ServerOptions(url if kind == "gemini" else url + "/v1", timeout_seconds=seconds)
    caller = Caller(RetryPolicy(attempts), sleep=lambda seconds: None)
    with connected(KINDS[kind]("m", options, caller)) as model:
        model.connect()
        yield model


@pytest.fixture(scope="module", autouse=True)
def used_before():
    """The SDKs import much of theirs when they are first used, within somebody's attempt."""
    with pytest.MonkeyPatch.context() as patch, LLMServer() as server:
        for name in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
            patch.setenv(name, "a-key")
        for kind in KINDS:
            with asking(kind, server.url, seconds=60.0) as model:
                model.generate(ASKED)


def given_up(model, asked: Request = ASKED) -> str:
    """What is said of a call that is given up, which takes as long as it may and no longer."""
    started = time.monotonic()
    with pytest.raises(ModelUnavailable) as caught:
        model.generate(asked)
    assert TIME <= time.monotonic() - started < TIME + LATE
    return str(caught.value)


def our_threads() -> set[threading.Thread]:
    """All but those that the server has for its connections, which end when it looks at them."""
    return {
        thread for thread in threading.enumerate() if "process_request_thread" not in thread.name
    }


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_without_an_end_is_not_read(server, monkeypatch, kind):
    monkeypatch.setattr(deadline, "MOST_BYTES", 100_000)
    with asking(kind, server.url, seconds=60.0) as model:
        server.then(Step(text="x" * 90_000), Step(text="x" * 200_000))
        assert len(model.generate(ASKED).text) == 90_000
        with pytest.raises(ModelUnavailable, match="longer than 100,000 bytes"):
            model.generate(ASKED)


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_is_packed_is_no_longer_than_another(server, monkeypatch, kind):
    monkeypatch.setattr(deadline, "MOST_BYTES", 100_000)
    with asking(kind, server.url, seconds=60.0) as model:
        server.then(Step(text="x" * 90_000, packed=True), Step(text="x" * 200_000, packed=True))
        assert len(model.generate(ASKED).text) == 90_000
        with pytest.raises(ModelUnavailable, match="longer than 100,000 bytes"):
            model.generate(ASKED)


@pytest.mark.parametrize("kind", ["openai", "text"])
def test_a_page_in_the_place_of_an_answer_says_what_the_address_may_lack(server, kind):
    server.then(Step(raw=b"<!doctype html><title>a chat</title>", content_type="text/html"))
    with (
        asking(kind, server.url, seconds=60.0) as model,
        pytest.raises(ModelUnavailable, match=r"doctype html.*does the address lack.*such as /v1"),
    ):
        model.generate(ASKED)


@pytest.mark.parametrize("part", ["headers", "body"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_trickles_is_given_up_on(server, kind, part):
    server.then(Trickle(part=part, seconds=LONG))
    threads = our_threads()
    with asking(kind, server.url) as model:
        assert f"timed out: no whole answer after {TIME:g} s (--timeout)" in given_up(model)
        for _ in range(100):  # it is told by its next byte but one
            if server.left:
                break
            time.sleep(0.01)
        assert server.left == 1, "the connection is still open"
    assert our_threads() <= threads


@pytest.mark.parametrize("part", ["headers", "body"])
def test_the_older_http_library_is_bounded_too(server, monkeypatch, part):
    pytest.importorskip("httpx")
    monkeypatch.setenv("GOOGLE_GENAI_HTTP_CLIENT", "httpx")
    server.then(Trickle(part=part, seconds=LONG))
    with asking("gemini", server.url) as model:
        assert type(model.connect()._api_client._httpx_client).__mro__[1].__module__ == "httpx"
        assert "--timeout" in given_up(model)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_behind_a_proxy_is_bounded_too(server, monkeypatch, kind):
    for name in ("NO_PROXY", "no_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", server.url)
    server.then(Trickle(seconds=LONG))
    with asking(kind, "http://some.test") as model:
        assert "--timeout" in given_up(model)
        assert server.asked[0].path.startswith("http://some.test/")


@pytest.mark.parametrize("kind", KINDS)
def test_an_encrypted_connection_is_bounded_too(server, monkeypatch, tmp_path, kind):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = certified("localhost", tmp_path / "both.pem")
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with server, asking(kind, f"https://localhost:{server.server_address[1]}") as model:
        server.then(Step(), Trickle(seconds=LONG))
        assert model.generate(ASKED).text == "pong"
        assert "--timeout" in given_up(model)


@pytest.mark.parametrize("kind", KINDS)
def test_what_trickles_is_tried_again_as_what_is_silent_is(server, kind):
    for late in (Trickle(seconds=LONG), Step(seconds=LONG)):
        server.then(late, Step(text="pong at last"))
        with asking(kind, server.url, attempts=3) as model:
            reply = model.generate(ASKED)
        assert (reply.text, reply.attempts, reply.lost) == ("pong at last", 2, 1)
        assert TIME <= reply.seconds < TIME + LATE


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_always_late_is_not_paid_for_ever(server, kind):
    server.then(*[Step(seconds=LONG)] * 8)
    with (
        asking(kind, server.url, attempts=8) as model,
        pytest.raises(ModelUnavailable, match=r"2 came to nothing.*with a longer --timeout$") as up,
    ):
        model.generate(ASKED)
    assert (len(server.asked), len(up.value.lost)) == (2, 2)


@pytest.mark.parametrize("part", ["headers", "body"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_trickles_and_comes_in_time_is_read(server, kind, part):
    server.then(Trickle(part=part, seconds=0.2))
    with asking(kind, server.url, seconds=30.0) as model:
        assert (model.generate(ASKED).text, len(server.charged)) == ("pong", 1)


@pytest.mark.parametrize("kind", KINDS)
def test_each_call_on_a_client_has_its_own_time(server, kind):
    """They begin one after the other, on connections that were used before.

    On a busy machine four calls that begin at once take more than a second.
    """
    with asking(kind, server.url, LONG) as model, ThreadPoolExecutor(4) as pool:
        assert {reply.text for reply in pool.map(model.generate, [ASKED] * 4)} == {"pong"}
        begun = []
        for step in (
            Trickle(seconds=2 * LONG),
            Step(seconds=0.2),
            Trickle(part="headers", seconds=2 * LONG),
        ):
            server.then(step)
            begun.append((time.monotonic(), pool.submit(model.generate, ASKED)))
            time.sleep(0.15)
        for (start, call), late in zip(begun, (True, False, True), strict=True):
            assert isinstance(call.exception(), ModelUnavailable) is late
            assert time.monotonic() - start < LONG + LATE
        assert model.generate(ASKED).text == "pong"


def certified(host: str, file: Path) -> Path:
    """Writes a key and a certificate that it signed for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, form, serialization.NoEncryption())
    file.write_bytes(secret + made.public_bytes(pem))
    return file


@contextmanager
def slow_reader():
    """A server that reads a question a little at a time and never answers; its address."""
    over = threading.Event()

    def read() -> None:
        connection, _ = listener.accept()
        with connection:
            while not over.wait(0.02) and connection.recv(2**18):
                pass

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        reader = threading.Thread(target=read)
        reader.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()
            # On a busy machine nobody may have come before the time was over.
            socket.create_connection(listener.getsockname()).close()
            reader.join()


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_that_is_read_slowly_is_given_up(kind):
    with slow_reader() as url, asking(kind, url) as model:
        assert "--timeout" in given_up(model, asked=Request("k01/a00", "x" * 30_000_000))


@contextmanager
def deaf(address: str = "127.0.0.1", port: int = 0):
    """A port that takes no further connection and refuses none."""
    with socket.socket() as listener, socket.socket() as only:
        listener.bind((address, port))
        listener.listen(0)
        only.connect(listener.getsockname())
        yield listener.getsockname()[1]


def resolved(monkeypatch, *addresses: str) -> None:
    """Lets a name have these addresses."""
    look_up = socket.getaddrinfo

    def found(host, port, *args, **more):
        hosts = addresses if host == "some.test" else (host,)
        return [one for host in hosts for one in look_up(host, port, *args, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", found)


@pytest.mark.parametrize("kind", KINDS)
def test_all_addresses_of_a_host_share_the_time(monkeypatch, kind):
    resolved(monkeypatch, *["127.0.0.1"] * 4)
    with deaf() as port, asking(kind, f"http://some.test:{port}") as model:
        assert "--timeout" in given_up(model)


def test_an_address_that_does_not_answer_leaves_time_for_the_next(server, monkeypatch):
    port = server.server_address[1]
    resolved(monkeypatch, "127.0.0.2", "127.0.0.1")
    with deaf("127.0.0.2", port), asking("openai", f"http://some.test:{port}", 2.0) as model:
        reply = model.generate(ASKED)
    assert (reply.text, reply.attempts) == ("pong", 1)
    assert 1.0 <= reply.seconds < 2.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_host_without_an_address_is_said_to_be_none(monkeypatch, kind):
    def fail(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with (
        asking(kind, "http://some.test") as model,
        pytest.raises(ModelUnavailable, match=r"cannot be reached.*Name or service not known"),
    ):
        model.generate(ASKED)


@pytest.mark.parametrize("kind", KINDS)
def test_a_look_up_has_a_time_of_its_own(server, monkeypatch, kind):
    for module in (gemini, openai_compatible):
        monkeypatch.setattr(module, "LOOK_UP_SECONDS", TIME)
    server.then_say_of_models(Trickle(seconds=LONG, raw=b"{}"))
    with asking(kind, server.url, seconds=60.0) as model:
        started = time.monotonic()
        with pytest.raises(Transient, match=rf"no whole answer after {TIME:g} s$"):
            model.look_up()
        assert time.monotonic() - started < TIME + LATE


def test_a_library_that_is_made_otherwise_is_used_as_it_is(server, monkeypatch, caplog):
    monkeypatch.setattr(deadline, "_Network", lambda inner: inner.of_another_version)
    with asking("openai", server.url) as model, caplog.at_level(logging.WARNING):
        assert model.generate(ASKED).text == "pong"
    assert "bounds each silence" in caplog.text
