"""Progress bars of a run, as a terminal shows them."""

from __future__ import annotations

import io

from rich.console import Console
from rich.progress import Progress

from population.cli.progress import Bars


def test_a_bar_of_decisions_is_there_once_a_network_is_trained() -> None:
    screen = io.StringIO()
    with Progress(console=Console(file=screen, force_terminal=True, width=80)) as progress:
        bars = Bars(progress, "net", 3)
        bars.begins(2, 3)
        bars.plays(4, 8)
        assert [task.description for task in progress.tasks] == ["net", "matches"]
        bars.learns(640, 2_560)
        bars.learns(1_280, 2_560)
        done = {task.description: (task.completed, task.total) for task in progress.tasks}
    assert done == {"net": (1, 3), "matches": (4, 8), "decisions": (1_280, 2_560)}
    assert "decisions" in screen.getvalue()
