"""What is registered about a program that a model wrote: the call that it came from."""

from __future__ import annotations

from pathlib import Path

from oracle.drafts import Draft
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.values import Task
from oracle.writer import ModelWriter, WriterOptions
from population.oracles import Authorship
from tests.oracle.scripted_model import ScriptedModel
from tests.oracle.stated_returns import a_task, program


def written(task: Task, u: float, journal: SqliteJournal) -> tuple[str, dict[str, object]]:
    """A program of such a return, and what is registered about it."""
    model = JournaledModel(ScriptedModel([f"```python\n{program(u)}```"]), journal)
    authorship = Authorship(ModelWriter(model, WriterOptions()), {}, journal)
    draft = authorship.write(task, Draft("i0g00d0"))
    return draft.source, dict(authorship.lineage_of(draft.source).provenance)


def test_searches_that_share_a_journal_take_no_call_of_each_other(tmp_path: Path) -> None:
    """As searches of `csro exploit` do that look for what beats one policy."""
    journal = SqliteJournal(tmp_path / "runs.sqlite", scope="against-1234")
    one, origin = written(a_task(seed=1), 1.0, journal)
    other, its = written(a_task(seed=2), 2.0, journal)
    assert one != other
    assert origin["call"] == its["call"]
    assert origin["prompt_digest"] != its["prompt_digest"]
    assert origin["reply_digest"] != its["reply_digest"]
    first, second = journal.calls()
    assert [origin["prompt_digest"], its["prompt_digest"]] == [
        first.request.digest,
        second.request.digest,
    ]
