"""The registry against a model of plain dictionaries, under any sequence of operations."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from registry import Registry, Status, Submission, UnknownPolicy, digest_of

_GAMES = itertools.count(1)
NAMES = st.sampled_from(["a/a", "a/A", "b/CFR+", "b/x.y-z_1"])
PAYLOADS = st.integers(0, 12).map(lambda number: f"payload {number}")
STATUSES = st.sampled_from(list(Status))


def code_of(payload: str) -> str:
    """Three payloads share a code."""
    return f"code {int(payload.split()[1]) // 3}"


@dataclass
class Named:
    """A name of a payload, with the history of its status."""

    name: str
    number: int
    statuses: list[Status]

    @property
    def ref(self) -> str:
        return f"{self.name}@{self.number}"

    @property
    def status(self) -> Status:
        return self.statuses[-1]

    @property
    def before_withdrawal(self) -> Status:
        return [one for one in self.statuses if one is not Status.YANKED][-1]

    def move(self, status: Status) -> None:
        if self.status is not status:
            self.statuses.append(status)


def machine_for(registry: Registry) -> type[RuleBasedStateMachine]:
    class Model(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.game = f"g{next(_GAMES)}"  # A game of its own for each run keeps runs apart.
            self.payload: dict[str, str] = {}
            self.names: dict[str, list[Named]] = {}
            self.aliases: dict[str, str] = {}

        def seen(self, digest: str) -> Named:
            """The first name of those that stand best; candidates tell nobody of it."""
            order = [Status.QUALIFIED, Status.QUARANTINED, Status.YANKED, Status.CANDIDATE]
            return min(self.names[digest], key=lambda one: order.index(one.status))

        @rule(pairs=st.lists(st.tuples(NAMES, PAYLOADS), max_size=5))
        def submit(self, pairs: list[tuple[str, str]]) -> None:
            many = [
                Submission(self.game, name, "python", payload, code_digest=code_of(payload))
                for name, payload in pairs
            ]
            for (name, payload), (version, created, credited) in zip(
                pairs, registry.submit_many(many), strict=True
            ):
                digest = digest_of(self.game, "python", payload)
                assert created == (digest not in self.payload)
                self.payload[digest] = payload
                there = self.names.setdefault(digest, [])
                own = [one for one in there if one.name[0] == name[0]]
                assert credited == (not own)
                if credited:
                    every = (one for names in self.names.values() for one in names)
                    number = 1 + sum(one.name == name for one in every)
                    there.append(Named(name, number, [Status.QUALIFIED]))
                (own_name,) = (one for one in there if one.name[0] == name[0])
                assert version.ref == own_name.ref
                assert version.status is own_name.status

        @rule(payload=PAYLOADS, status=STATUSES, author=st.sampled_from(["", "a", "b"]))
        def set_status(self, payload: str, status: Status, author: str) -> None:
            digest = digest_of(self.game, "python", payload)
            meant = [one for one in self.names.get(digest, []) if one.name.startswith(author)]
            if not meant:
                return
            registry.set_status(digest, status, "", ref=meant[0].ref if author else None)
            for one in meant:
                one.move(status)
            self.compare_history(digest)

        def compare_history(self, digest: str) -> None:
            found = registry.history(digest)
            for one in self.names[digest]:
                assert [change.status for change in found if change.ref == one.ref] == one.statuses
            assert {change.ref for change in found} == {one.ref for one in self.names[digest]}

        @rule(payload=PAYLOADS)
        def quarantine(self, payload: str) -> None:
            code = code_of(payload)
            standing = [
                digest
                for digest, kept in self.payload.items()
                if code_of(kept) == code
                and any(one.status is not Status.YANKED for one in self.names[digest])
            ]
            moved = registry.quarantine_code(self.game, code, "")
            assert [version.digest for version in moved] == standing
            for digest in standing:
                for one in self.names[digest]:
                    if one.status is not Status.YANKED:
                        one.move(Status.QUARANTINED)
                self.compare_history(digest)

        @rule(payload=PAYLOADS)
        def ask_for_quarantine(self, payload: str) -> None:
            known = [
                digest
                for digest, kept in self.payload.items()
                if code_of(kept) == code_of(payload)
                and any(one.before_withdrawal is Status.QUARANTINED for one in self.names[digest])
            ]
            found = registry.quarantined_code(self.game, code_of(payload))
            assert (found.digest if found else None) == (known[0] if known else None)

        @rule(alias=st.sampled_from(["best", "worst"]), payload=PAYLOADS)
        def set_alias(self, alias: str, payload: str) -> None:
            digest = digest_of(self.game, "python", payload)
            if digest in self.payload:
                registry.set_alias(self.game, alias, digest)
                self.aliases[alias] = digest

        @rule(name=NAMES)
        def get_newest(self, name: str) -> None:
            standing = [
                (one.status in (Status.QUALIFIED, Status.CANDIDATE), one.number, digest)
                for digest, names in self.names.items()
                for one in names
                if one.name == name
            ]
            try:
                found = registry.get(self.game, name)
            except UnknownPolicy:
                assert standing == []
            else:
                _, number, digest = max(standing)
                assert (found.digest, found.name, found.number) == (digest, name, number)

        @rule(status=STATUSES, author=st.sampled_from(["a", "b"]))
        def find(self, status: Status, author: str) -> None:
            found = registry.find(self.game, status=status, author=author)
            assert registry.count(self.game, status=status, author=author) == len(found)
            assert [(version.digest, version.ref) for version in found] == [
                (digest, one.ref)
                for digest, names in self.names.items()
                for one in names
                if one.name.startswith(f"{author}/") and one.status is status
            ]

        @invariant()
        def everything_is_there(self) -> None:
            found = registry.find(self.game)
            assert {one.digest: one.payload for one in found} == self.payload
            for one in found:
                assert [credit.ref for credit in one.credits] == [
                    name.ref for name in self.names[one.digest]
                ]
                seen = self.seen(one.digest)
                assert (one.ref, one.status) == (seen.ref, seen.status)
            aliases = {one.name: one.digest for one in registry.aliases(self.game)}
            assert aliases == self.aliases

    return Model


def test_the_registry_does_what_its_model_does(registry: Registry) -> None:
    run_state_machine_as_test(
        machine_for(registry),
        settings=settings(
            max_examples=15,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
