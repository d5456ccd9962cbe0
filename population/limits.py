"""What a run may spend, kept with it: whoever resumes it need not say it again."""

from __future__ import annotations

from dataclasses import asdict

from sqlmodel import Session

from population.oracles import Spending
from population.runs import Runs, explained
from population.schema import RunRow


@explained
def keep(runs: Runs, name: str, given: Spending) -> Spending:
    """Keeps the limits and the price that a run goes on with, whatever was kept before."""
    with Session(runs.engine) as session:
        row = session.get_one(RunRow, name)
        row.limits = asdict(given)
        session.add(row)
        session.commit()
    return given


@explained
def kept(runs: Runs, name: str, given: Spending) -> Spending:
    """What holds for a run that is resumed: what was kept, where nothing else is given now.

    It is not kept yet: whoever goes on with it tries it first.
    """
    with Session(runs.engine) as session:
        before = session.get_one(RunRow, name).limits or {}
    now = {key: before.get(key) if value is None else value for key, value in asdict(given).items()}
    return Spending(**now)
