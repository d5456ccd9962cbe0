"""The lock files install with the pip that Python 3.11 brings, whatever is released after them."""

import re
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-cluster.lock")


def pinned(lock: str) -> list[Requirement]:
    lines = re.findall(r"^([a-z0-9].*?) *\\$", (ROOT / lock).read_text(), re.MULTILINE)
    here = [Requirement(line) for line in lines]
    return [pin for pin in here if pin.marker is None or pin.marker.evaluate()]


def asked_by(pin: Requirement) -> list[Requirement]:
    """What the package that is installed here asks for, with the extras that are locked."""
    try:
        lines = requires(pin.name) or []
    except PackageNotFoundError:  # of a lock that this environment was not made from
        return []
    extras = [{"extra": extra} for extra in ("", *pin.extras)]
    wanted = [Requirement(line) for line in lines]
    return [
        want
        for want in wanted
        if want.marker is None or any(want.marker.evaluate(extra) for extra in extras)
    ]


@pytest.mark.parametrize("lock", LOCKS)
def test_an_extra_that_a_package_asks_for_is_pinned_as_that(lock: str) -> None:
    pins = pinned(lock)
    extras = {canonicalize_name(pin.name): pin.extras for pin in pins}
    asked = [(pin.name, want) for pin in pins for want in asked_by(pin) if want.extras]

    assert any(want.name == "google-auth" for _, want in asked)
    for name, want in asked:
        missing = want.extras - extras[canonicalize_name(want.name)]
        assert not missing, f"{lock}: {name} asks for {want}, which is pinned without {missing}"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_is_one_release_with_its_hashes_and_names_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert len(pinned(lock)) > 50
    assert "://" not in text
    for block in re.split(r"\n(?=\S)", text.strip()):
        assert re.match(r"[a-z0-9._-]+(\[[a-z0-9,_-]+\])?==\S+( ;.*?)? \\\n +--hash=sha256:", block)
