"""A home with real matches, and pages over it without a browser."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from arena import Arena
from arena.games import game as game_named
from arena.house.population import default_population
from arena.submission import prepare
from dashboards.browser import LAPTOP, Browser
from dashboards.serving import served
from dashboards.settings import Settings, Submitting
from oracle.models.errors import BudgetSpent
from oracle.models.gemini import GeminiModel
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from population.config import OracleChoice, RunConfig
from population.launch import carry_out
from population.matches import Matches
from population.measuring import Measuring
from population.oracles import Spending, workshop
from population.records import RunState
from population.report.facts import sigmas_of
from population.runs import Runs
from population.scores import measure, to_measure
from registry.values import Submission
from tests.dashboards.looking import HOSTILE, needs_browser
from tests.oracle.llm_server import LLMServer
from tests.population.scripted_oracles import program
from tests.population.small_run import run_small

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


@pytest.fixture(autouse=True)
def the_same_main_afterwards() -> Iterator[None]:
    """AppTest puts a module of its own in the place of `__main__`, and leaves it there.

    Worker processes that later tests spawn would try to import it.
    """
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


MadeOnce = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def played_home(house: Path, made_once: MadeOnce) -> Path:
    """All games played; in RRPS the starter and a hostile entrant met the population."""

    def make(path: Path) -> None:
        shutil.copytree(house, path)
        with Arena(path, sandbox="process", workers=1) as arena:
            # The trial would refuse it: it is registered as if it had passed.
            prepared = prepare(
                game_named("rrps"), CRASHER, name="eve/hostile", labels={"note": HOSTILE}
            )
            assert isinstance(prepared, Submission)
            hostile = arena.home.registry.submit(prepared).version.digest
            for cards in ("leduc", "kuhn"):
                arena.play(cards, 4)
            entrants = [hostile, arena.policy("starter/rrps", "rrps").digest]
            bots = default_population("rrps").digests
            arena.play_pairs("rrps", {(one, bot): 2 for one in entrants for bot in bots})

    return made_once("dashboards", make)


@pytest.fixture
def home_copy(played_home: Path, tmp_path: Path) -> Path:
    """The same, for tests that add to it."""
    return Path(shutil.copytree(played_home, tmp_path / "home"))


Browse = Callable[..., AbstractContextManager[Browser]]


@pytest.fixture(scope="session")
def browse() -> Iterator[Browse]:
    """Windows of one Chromium, each of an address, a size and a theme.

    Each is as new as a browser that was just started, which takes as long as four pages take.
    """
    needs_browser()
    idle: list[Browser] = []

    @contextmanager
    def window(
        address: str, size: tuple[int, int] = LAPTOP, *, dark: bool = False
    ) -> Iterator[Browser]:
        browser = idle.pop() if idle else Browser("")
        try:
            browser.begin_anew(address, size, dark=dark)
            yield browser
            browser.run("location = 'about:blank'")  # a page that is left asks for nothing more
        except BaseException:
            browser.__exit__()  # it may be what went wrong
            raise
        idle.append(browser)

    yield window
    for browser in idle:
        browser.__exit__()


@pytest.fixture(scope="session")
def played_pages(played_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of pages over `played_home`, where nobody hands anything in."""
    needs_browser()
    log = tmp_path_factory.mktemp("played") / "log"
    settings = Settings(played_home, submitting=Submitting.ANY_WALL, matches=2)
    with served(settings, log) as url:
        yield url
    said = log.read_text()
    assert "Traceback" not in said, said


SEEDS = (1, 2, 3)
PRICE = Price(1.0, 10.0)


@pytest.fixture(scope="session")
def runs_home(house: Path, made_once: MadeOnce) -> Path:
    """Three finished runs of one variant that were measured, and "asked", whose model is hostile.

    The model is a server on this machine that speaks Gemini's protocol.
    """

    def make(path: Path) -> None:
        shutil.copytree(house, path)
        runs, population = Runs(path), default_population("rrps")
        with Arena(path, sandbox="process", workers=1) as arena:
            for seed in SEEDS:
                run_small(arena, f"s{seed}", seed)
            for seed in SEEDS:
                record = runs.get(f"s{seed}")
                sigmas = sigmas_of(record, runs.iterations(record.name))
                wanted = to_measure(sigmas, 4)
                measure(Matches(arena, game_named("rrps"), shared=True), wanted, population)
            ask_a_model(arena)

    return made_once("runs", make)


def ask_a_model(arena: Arena) -> None:
    """A run of two iterations, the second of which a budget cuts off."""
    rng = random.Random(1)
    oracle = OracleChoice("zero-shot", "gemini:made-up", "code", "top-k:5")
    config = RunConfig("rrps", oracle, 2, 5, matches=Measuring(4, 8))
    runs = Runs(arena.home.path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GEMINI_API_KEY", "k")
        patched.delenv("GOOGLE_API_KEY", raising=False)
        with LLMServer(lambda prompt: f"{HOSTILE}\n\n```python\n{program(rng)}```\n") as server:
            model = GeminiModel("made-up", ServerOptions(server.url, price=PRICE))
            shop = workshop(runs, runs.start("asked", config), Spending(max_calls=1), model)
            lineage, matches = shop.authorship.lineage_of, Matches(arena, game_named("rrps"))
            with pytest.raises(BudgetSpent) as stop:
                carry_out(runs, "asked", config, shop.oracle, lineage, matches)
    runs.note("asked", RunState.STOPPED, str(stop.value))


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


def _forget() -> None:
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(scope="session")
def remembered() -> Iterator[dict[str, str]]:
    """With which settings pages were drawn last of a home that nobody adds to; {}: of another."""
    yield {}
    _forget()


@pytest.fixture
def page(
    monkeypatch: pytest.MonkeyPatch, remembered: dict[str, str], tmp_path: Path
) -> Iterator[Page]:
    """Draws one page over a home: `page(home, "policy", "rrps", policy="eve/hostile@1")`.

    What was worked out for it is kept, as a server keeps it, unless a test may add to the home.
    """

    def draw(home: Path, name: str, game: str = "rrps", live: float = 4.0, **query: str) -> AppTest:
        settings = Settings(home, submitting=Submitting.ANY_WALL, matches=1, live_seconds=live)
        environment = settings.to_environment()
        for variable, value in environment.items():
            monkeypatch.setenv(variable, value)
        if remembered != environment:
            _forget()
        remembered.clear()
        if not home.is_relative_to(tmp_path):  # it is of all tests
            remembered.update(environment)
        app = AppTest.from_function(_script, default_timeout=60, args=(name, game, query))
        return app.run()

    yield draw
    if not remembered:
        _forget()
