"""The compose file and its image: what they name is there, and takes the words it is given."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest
import yaml
from ray.scripts.scripts import start as ray_start

from arena.cli.serving import serve as arena_serve
from sandbox import gvisor
from tests.documentation.pages import ROOT

COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
SERVICES = COMPOSE["services"]


@pytest.mark.parametrize("service", ["head", "node"])
def test_ray_takes_the_words_it_is_started_with(service):
    program, command, *words = shlex.split(SERVICES[service]["command"])
    assert (program, command) == ("ray", "start")
    ray_start.make_context("ray start", words)


def test_nodes_find_the_head_where_it_listens():
    (port,) = re.findall(r"--port=(\d+)", SERVICES["head"]["command"])
    assert f"--address=head:{port}" in SERVICES["node"]["command"]
    assert "--num-cpus=0" in SERVICES["head"]["command"], "who owns the store plays nothing"


def test_nothing_but_the_server_is_published_and_that_to_this_machine_alone():
    """Ray has no passwords, and the registry needs no other clients."""
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"server": ["127.0.0.1:8500:8500"]}


def test_the_server_takes_the_words_it_is_started_with():
    program, command, *words = shlex.split(SERVICES["server"]["command"])
    assert (program, command) == ("arena", "serve")
    told = arena_serve.make_context("arena serve", words).params
    assert (told["listen"], told["port"], told["pages"], told["player"]) == (
        "0.0.0.0",
        8500,
        True,
        True,
    )
    assert told["require_gvisor"]
    assert "/var/run/docker.sock:/var/run/docker.sock" in SERVICES["server"]["volumes"]


def test_who_plays_waits_for_the_image_of_the_boxes():
    program, flag, module, *words = shlex.split(SERVICES["boxes"]["command"])
    assert (program, flag, module) == ("python3", "-m", gvisor.__name__)
    with pytest.raises(SystemExit) as told:
        gvisor.main([*words, "--help"])
    assert told.value.code == 0
    assert SERVICES["boxes"]["restart"] == "no", "it ends when it is done"
    socket = "/var/run/docker.sock:/var/run/docker.sock"
    uses_docker = {name for name, one in SERVICES.items() if socket in one.get("volumes", ())}
    assert uses_docker == {"boxes", "server", "node"}
    for service in uses_docker - {"boxes"}:
        condition = SERVICES[service]["depends_on"]["boxes"]["condition"]
        assert condition == "service_completed_successfully"


def test_what_is_for_a_cluster_starts_where_one_is_asked_for():
    assert {name for name, service in SERVICES.items() if "profiles" in service} == {"head", "node"}


def test_volumes_and_services_that_are_named_exist():
    for service in SERVICES.values():
        assert set(service.get("depends_on", ())) <= set(SERVICES)
        named = [volume.split(":")[0] for volume in service.get("volumes", ())]
        assert {name for name in named if not name.startswith("/")} <= set(COMPOSE["volumes"])


def test_the_image_installs_the_locked_packages():
    (lock,) = set(re.findall(r"requirements[\w-]*\.lock", DOCKERFILE))
    pinned = (ROOT / lock).read_text()
    assert re.search(r"^ray==", pinned, re.M) and re.search(r"^open-spiel==", pinned, re.M)
    assert SERVICES["node"]["build"]["dockerfile"] == "deploy/Dockerfile"


def test_an_image_holds_the_code_and_nothing_else_of_a_checkout():
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in lines if line.startswith("!")}
    assert "*" in lines
    copied = re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.M)
    assert {name for names in copied for name in names.split()} == allowed
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {
        name.rstrip("*") for name in packages["tool"]["setuptools"]["packages"]["find"]["include"]
    } < allowed
