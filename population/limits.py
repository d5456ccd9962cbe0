"""What a run may spend, and its pace, kept with it: whoever resumes it need not say it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlmodel import Session

from oracle.models.options import Asking
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


@explained
def keep_pace(runs: Runs, name: str, given: Mapping[str, Any]) -> None:
    """Keeps the time-out and the like that a run goes on with; the rest of its record stays."""
    if not given:
        return
    with Session(runs.engine) as session:
        row = session.get_one(RunRow, name)
        oracle = row.config["oracle"]
        asking = {**asdict(Asking()), **oracle.get("asking", {}), **given}  # some runs have none
        row.config = {**row.config, "oracle": {**oracle, "asking": asking}}
        session.add(row)
        session.commit()
