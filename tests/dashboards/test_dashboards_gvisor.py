"""A stranger's policy, handed in on a page of a home whose operator decided nothing: gVisor."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from arena.home import open_home
from dashboards.serving import served
from dashboards.settings import Settings, Submitting
from sandbox.choose import WallChoice, open_wall
from sandbox.errors import SandboxError
from tests.dashboards.conftest import Browse
from tests.dashboards.looking import unharmed

pytestmark = [pytest.mark.browser, pytest.mark.gvisor]

POLICY = '''
class RepeatedLeducPokerBot:
    """Raises while it may."""

    def restart(self, player_id):
        pass

    def act(self, obs):
        return "RAISE" if "RAISE" in obs["player_view"]["legal_actions"] else "CALL"

    def receive_outcome(self, obs):
        pass
'''


def needs_gvisor() -> None:
    """Skips a test where gVisor does not work; fails it where it has to."""
    try:
        open_wall(WallChoice(require_gvisor=True)).close()
    except SandboxError as error:
        if os.environ.get("ARENA_TEST_REQUIRE_GVISOR") == "1":
            pytest.fail(f"gVisor is required here: {error}", pytrace=False)
        pytest.skip(f"gVisor is not available: {error}")


def test_a_policy_is_submitted_behind_gvisor(
    played_home: Path, browse: Browse, tmp_path: Path
) -> None:
    needs_gvisor()
    path = Path(shutil.copytree(played_home, tmp_path / "home"))
    settings = Settings(path, matches=2)
    assert settings.submitting is Submitting.GVISOR
    with served(settings, tmp_path / "log") as address, browse(address) as browser:
        browser.open("/submit?game=leduc")
        browser.wait_for("Sandbox: gvisor")
        browser.settle()
        browser.write("Name", "ada/raises")
        browser.write("Source", POLICY)
        browser.click("Submit")
        browser.wait_for("Registered as ada/raises@1", timeout=180)
        browser.wait_for("Worst opponents")
        unharmed(browser, "submit behind gVisor")
    home = open_home(path)
    digest = home.registry.get("leduc", "ada/raises").digest
    walls = {row.wall for row in home.store.matches("leduc", 1, of=digest)}
    assert walls
    assert all(wall.startswith("gvisor") for wall in walls), walls
