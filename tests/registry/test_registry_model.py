"""The registry against a model of plain dictionaries, under any sequence of operations."""

import itertools

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


def machine_for(registry: Registry) -> type[RuleBasedStateMachine]:
    class Model(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.game = f"g{next(_GAMES)}"  # A game of its own for each run keeps runs apart.
            self.payload: dict[str, str] = {}
            self.named: dict[str, tuple[str, int]] = {}
            self.status: dict[str, list[Status]] = {}
            self.aliases: dict[str, str] = {}

        @rule(pairs=st.lists(st.tuples(NAMES, PAYLOADS), max_size=5))
        def submit(self, pairs: list[tuple[str, str]]) -> None:
            many = [
                Submission(self.game, name, "python", payload, code_digest=code_of(payload))
                for name, payload in pairs
            ]
            for (name, payload), (version, created) in zip(
                pairs, registry.submit_many(many), strict=True
            ):
                digest = digest_of(self.game, "python", payload)
                assert created == (digest not in self.payload)
                if created:
                    number = 1 + sum(other == name for other, _ in self.named.values())
                    self.payload[digest] = payload
                    self.named[digest] = (name, number)
                    self.status[digest] = [Status.QUALIFIED]
                assert (version.name, version.number) == self.named[digest]

        @rule(payload=PAYLOADS, status=STATUSES)
        def set_status(self, payload: str, status: Status) -> None:
            digest = digest_of(self.game, "python", payload)
            if digest not in self.payload:
                return
            registry.set_status(digest, status, "")
            if self.status[digest][-1] is not status:
                self.status[digest].append(status)
            assert [one.status for one in registry.history(digest)] == self.status[digest]

        @rule(payload=PAYLOADS)
        def quarantine(self, payload: str) -> None:
            code = code_of(payload)
            standing = [
                digest
                for digest, kept in self.payload.items()
                if code_of(kept) == code and self.status[digest][-1] is not Status.YANKED
            ]
            moved = registry.quarantine_code(self.game, code, "")
            assert [version.digest for version in moved] == standing
            for digest in standing:
                if self.status[digest][-1] is not Status.QUARANTINED:
                    self.status[digest].append(Status.QUARANTINED)
                assert [one.status for one in registry.history(digest)] == self.status[digest]

        @rule(payload=PAYLOADS)
        def ask_for_quarantine(self, payload: str) -> None:
            known = [
                digest
                for digest, kept in self.payload.items()
                if code_of(kept) == code_of(payload)
                and [one for one in self.status[digest] if one is not Status.YANKED][-1]
                is Status.QUARANTINED
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
                (self.status[digest][-1] in (Status.QUALIFIED, Status.CANDIDATE), number, digest)
                for digest, (own, number) in self.named.items()
                if own == name
            ]
            try:
                found = registry.get(self.game, name).digest
            except UnknownPolicy:
                assert standing == []
            else:
                assert found == max(standing)[2]

        @rule(status=STATUSES, author=st.sampled_from(["a", "b"]))
        def find(self, status: Status, author: str) -> None:
            found = registry.find(self.game, status=status, author=author)
            assert [version.digest for version in found] == [
                digest
                for digest, (name, _) in self.named.items()
                if name.startswith(f"{author}/") and self.status[digest][-1] is status
            ]

        @invariant()
        def everything_is_there(self) -> None:
            found = registry.find(self.game)
            assert {one.digest: one.payload for one in found} == self.payload
            assert {one.digest: (one.name, one.number) for one in found} == self.named
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
