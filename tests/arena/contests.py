"""Tournaments that were played for tests, and documents to doctor."""

import copy
from datetime import UTC, datetime, timedelta

import pytest

from arena import Arena
from arena.contest.certificate import (
    digest_of_document,
)
from arena.contest.final import begun
from arena.contest.values import Taking
from arena.contest.verification import verify
from arena.errors import UsageFault
from arena.games import GAMES
from arena.runner import Runner
from arena.tally import Request
from registry import Status, TournamentConflict
from sandbox.choose import WallChoice

KUHN = GAMES["kuhn"]
PROCESS = WallChoice("process")
"""The walls have tests of their own."""
OPENS = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLOSES = OPENS + timedelta(days=7)
HOUR = timedelta(hours=1)

SOURCE = '''
import random


class RepeatedKuhnPokerBot:
    """{words}"""

    def restart(self, player_id):
        self.{seat} = player_id
        self.{count} = 0

    def act(self, observation):
        {card} = observation["player_view"]["hand"]
        self.{count} += 1
        if {card} == "{bets}":
            return "BET"
        if self.{count} > {most} or random.random() < {chance}:
            return "PASS"
        return "BET" if {card} == "K" else "PASS"

    def receive_outcome(self, observation):
        if self.{seat} == 7:
            self.{count} = 0
'''
NAMES = {"seat": "seat", "count": "count", "card": "card"}
FIRST = SOURCE.format(words="First.", bets="K", most=90, chance=0.1, **NAMES)
SECOND = """
class RepeatedKuhnPokerBot:
    def restart(self, player_id):
        self.hands = [player_id, *getattr(self, "hands", [])][:5]

    def act(self, observation):
        strength = {"J": 0, "Q": 1, "K": 2}[observation["player_view"]["hand"]]
        bets = [move for move in observation["action_history"] if move["action"] == "BET"]
        return ("PASS", "BET")[strength + len(self.hands) % 2 > 1 + len(bets)]

    def receive_outcome(self, observation):
        for move in observation["action_history"]:
            if move["action"] == "BET" and len(self.hands) > 3:
                self.hands = self.hands[1:]
"""
OTHER = SOURCE.format(words="Other.", bets="Q", most=10, chance=0.2, **NAMES)
COPY = OTHER.replace("count", "moves").replace("card", "own").replace("Other.", "All mine.")
SECRET = SOURCE.format(words="Hidden.", bets="J", most=20, chance=0.7, **NAMES)


def play_final(home, name, now):
    """Plays what is missing of a tournament's final."""
    final, game, wanted = begun(home, name, now)
    with Runner(final, workers=1, wall=PROCESS) as runner:
        return runner.play(Request(game, wanted))


def with_a_final(folder):
    """The home in a folder, with a tournament whose final was played."""
    with Arena(folder, sandbox="process", workers=1) as arena:
        registry, began = arena.home.registry, datetime.now(UTC)
        secret = arena.submit(SECRET, "kuhn", "prof/secret").version
        registry.set_status(secret.digest, Status.CANDIDATE, "")
        hidden = (secret.digest, arena.policy("house/AlwaysPass", "kuhn").digest)
        closes = began + timedelta(minutes=10)
        registry.announce("spring", "kuhn", began, closes, matches=4, hidden=hidden)
        for name, source in (("ada/x", FIRST), ("ada/x", SECOND), ("bob/y", OTHER), ("cy/z", COPY)):
            assert arena.submit(source, "kuhn", name).created
        home = arena.home
    with pytest.raises(TournamentConflict, match="is open until"):
        play_final(home, "spring", now=closes - HOUR)
    report = play_final(home, "spring", now=closes)
    assert (report.played, report.left) == (9 * 4, 0)
    return home


def problems(document):
    """What the checks object to; Malformed is an objection, too."""
    try:
        return [f"{one.check}: {one.problem}" for one in verify(document) if one.problem]
    except UsageFault as error:
        return [str(error)]


def with_value(document, place, value):
    doctored = copy.deepcopy(document)
    inner = doctored
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return doctored


def signed(document):
    """With the digest that goes with it."""
    return {**document, "digest": digest_of_document(document)}


def taking(name, source, kind="python"):
    return Taking(f"{name}@1", kind, (f"{name}@1",), "", source)
