"""The pages at the address of a server: found by their entry point, beside the API."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from arena.home import open_home
from arena.remote import RemoteArena
from arena.server.serving import PAGES
from registry.rights import Role

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(tmp_path):
    """What an installation of this checkout says of itself, for a process's path."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    facts = tmp_path / "path" / "mounted_pages-0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: mounted-pages\nVersion: 0\n")
    points = "".join(f"{name} = {to}\n" for name, to in project["entry-points"][PAGES].items())
    (facts / "entry_points.txt").write_text(f"[{PAGES}]\n{points}")
    return f"{ROOT}{os.pathsep}{facts.parent}"


def test_pages_and_api_share_an_address(home, installed):
    token = open_home(home).registry.add_accounts([("boss", Role.OPERATOR)])["boss"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["serve", "--home", str(home), "--port", str(port), "--no-player", "--workers", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "arena", *words],
        env={**os.environ, "PYTHONPATH": installed},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            address = process.stdout.readline().split()[-1]
            with urllib.request.urlopen(address, timeout=20) as page:
                assert "Content-Security-Policy" in page.headers
                assert b"<title>" in page.read()
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=20) as health:
                assert health.read() == b"ok"
            for closed in ("metrics", "metrics/", "agent/openapi.json", "agent/interact"):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(f"{address}/_stcore/{closed}", timeout=20)
                assert refused.value.code == 404, closed
                assert "Content-Security-Policy" in refused.value.headers
                refused.value.close()
            told = {}
            for path in ("badge/rrps/house/rockbot.svg", "feed/rrps.atom", "feed/rrps.json"):
                with urllib.request.urlopen(f"{address}/{path}", timeout=20) as answer:
                    told[path] = answer.read().decode()
            assert "house/rockbot at rrps" in told["badge/rrps/house/rockbot.svg"]
            assert f"{address}/feed/rrps.atom" in told["feed/rrps.atom"]
            assert json.loads(told["feed/rrps.json"])["feed_url"] == f"{address}/feed/rrps.json"
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{address}/badge/rrps/no/body.svg", timeout=20)
            assert refused.value.code == 404
            refused.value.close()
            with RemoteArena(address, token) as arena:
                assert len(arena.policies("leduc")) >= 3
        finally:
            process.terminate()
            said = process.communicate(timeout=30)[1]
    assert process.returncode == 0, said
    assert "Traceback" not in said
