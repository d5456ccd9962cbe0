"""What matches cost, how a budget ends a request, and who has a say after a trial."""

from dataclasses import replace

from arena.enrol import Enrolled
from arena.house.population import default_population
from arena.rejection import Rejection, RejectionKind
from arena.tally import held_seconds

SOURCE = '''
class Agent:
    """Rock for ever: {idea}."""

    def act(self, observation):
        return "ROCK"
'''
OBJECTION = Rejection(RejectionKind.TOO_SLOW, "it takes too long")


def test_who_idles_is_charged_like_who_computes(arena):
    trials = []
    assert arena.check(SOURCE, "rrps", trials.append) is None
    ((first, second),) = trials
    assert first.match.repetition != second.match.repetition
    assert held_seconds(replace(first, cpu_seconds=(0.25, 0.5), seconds=0.1)) == 0.75
    assert held_seconds(replace(first, cpu_seconds=(0.25, 0.5), seconds=9.0)) == 9.0


def test_a_judge_keeps_a_policy_out(arena):
    assert arena.check(SOURCE, "rrps", lambda trial: OBJECTION) == OBJECTION
    found = arena.submit(SOURCE, "rrps", "ada/rock", judge=lambda trial: OBJECTION)
    assert found == OBJECTION
    assert arena.policies("rrps", author="ada") == ()
    assert isinstance(arena.submit(SOURCE, "rrps", "ada/rock", judge=lambda trial: None), Enrolled)


def test_a_judge_is_not_asked_about_what_failed_anyway(arena):
    asked = []
    broken = SOURCE.replace('"ROCK"', '"STONE"')
    found = arena.submit(broken, "rrps", "ada/stone", judge=asked.append)
    assert isinstance(found, Rejection)
    assert found != OBJECTION
    assert asked == []


def test_a_budget_leaves_matches_for_another_time(arena):
    entered = arena.submit(SOURCE, "rrps", "ada/rock")
    assert isinstance(entered, Enrolled)
    pairs = {(entered.version.digest, bot): 2 for bot in default_population("rrps").digests}
    nothing = arena.play_pairs("rrps", pairs, processor_seconds=0.0)
    assert (nothing.played, nothing.held_seconds) == (0, 0.0)
    assert nothing.left > 0
    rest = arena.play_pairs("rrps", pairs)
    assert rest.left == 0
    assert rest.played == nothing.left
    assert rest.held_seconds > 0
