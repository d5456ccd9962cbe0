"""A home with real matches, and pages over it without a browser."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from arena.enrol import Enrolled, enrol
from arena.games import game as game_named
from arena.home import open_home
from arena.house.population import default_population
from arena.play import PlayOptions, play, play_pairs
from arena.starters import enrol_starters
from arena.submission import prepare
from dashboards.settings import Settings, Submitting
from registry.values import Submission
from sandbox.choose import WallChoice, open_wall
from sandbox.values import Limits

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)> [x](javascript:y)"
CRASHER = f'''"""{HOSTILE}"""


class Agent:
    """{HOSTILE} $\\\\frac{{1}}{{2}}$ :red[red] ![i](http://127.0.0.1/i.png)

    Second paragraph.
    """

    def __init__(self):
        self.throws = 0

    def act(self, observation):
        self.throws += 1
        if observation["opponent_action"] == "SCISSORS" and self.throws > 3:
            raise ValueError("{HOSTILE}")
        return "ROCK"
'''
WALL = WallChoice("process")


@pytest.fixture(autouse=True)
def the_same_main_afterwards() -> Iterator[None]:
    """AppTest puts a module of its own in the place of `__main__`, and leaves it there.

    Worker processes that later tests spawn would try to import it.
    """
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session")
def played_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both games played; in RRPS the starter and a hostile entrant met the population."""
    path = tmp_path_factory.mktemp("dashboards") / "home"
    home = open_home(path)
    enrol_starters(home)
    rrps, leduc = game_named("rrps"), game_named("leduc")
    prepared = prepare(rrps, CRASHER, name="eve/hostile", labels={"note": HOSTILE})
    assert isinstance(prepared, Submission)
    box = open_wall(WALL)
    try:
        taken = enrol(home.registry, rrps, prepared, box, Limits())
    finally:
        box.close()
    assert isinstance(taken, Enrolled)
    play(home, leduc, PlayOptions(4, workers=1, wall=WALL))
    entrants = [taken.version.digest, home.registry.get("rrps", "starter/rrps").digest]
    pairs = [(one, bot) for one in entrants for bot in default_population("rrps").digests]
    play_pairs(home, rrps, pairs, PlayOptions(2, workers=1, wall=WALL))
    return path


@pytest.fixture
def home_copy(played_home: Path, tmp_path: Path) -> Path:
    """The same, for tests that add to it."""
    return Path(shutil.copytree(played_home, tmp_path / "home"))


Page = Callable[..., AppTest]


def _script(page: str, game: str, query: dict[str, str]) -> None:
    from importlib import import_module

    import streamlit as st

    from arena.games import game as game_named
    from dashboards.errors import told

    for key, value in query.items():
        if key not in st.query_params:
            st.query_params[key] = value
    with told():
        import_module(f"dashboards.views.{page}").show(game_named(game))


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """Draws one page over a home: `page(home, "policy", "rrps", policy="eve/hostile@1")`."""

    def draw(home: Path, name: str, game: str = "rrps", **query: str) -> AppTest:
        settings = Settings(home, submitting=Submitting.ANY_WALL, matches=1)
        for variable, value in settings.to_environment().items():
            monkeypatch.setenv(variable, value)
        st.cache_resource.clear()
        st.cache_data.clear()
        app = AppTest.from_function(_script, default_timeout=60, args=(name, game, query))
        return app.run()

    yield draw
    st.cache_resource.clear()
    st.cache_data.clear()
