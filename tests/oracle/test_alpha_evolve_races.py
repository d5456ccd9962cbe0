"""What races of drafts mean for islands: who was given up leads none of them."""

from oracle.alpha_evolve import AlphaEvolve, Evolution
from tests.oracle.stated_returns import ScriptedWriter, a_task, program, score_of


def test_few_lucky_matches_do_not_win():
    """What was stopped early is not the answer, whatever its few matches returned."""
    task = a_task()
    lucky, steady = program(9.0, "lucky"), program(3.0, "steady")

    def evaluate(sources, *, effort=1.0):
        """At a quarter of the effort the steady one looks far better than it is."""
        scores = []
        for source in sources:
            promising = 90.0 if effort < 0.5 else 3.0
            u = {lucky: 9.0, steady: promising}.get(source, -99.0)
            scores.append(score_of(task, u, 1.0, int(64 * effort)))
        return tuple(scores)

    writer = ScriptedWriter([program(-99.0, "founder"), lucky, steady])
    oracle = AlphaEvolve(writer, Evolution(islands=1, generations=1, drafts=2))
    assert oracle.respond(task, evaluate).best.source == steady


def test_what_a_race_gave_up_leads_no_island():
    """On common cards first matches are lucky for all, also for who is behind in them."""
    task = a_task()
    lucky, ahead = program(8.0, "lucky"), program(9.0, "ahead")

    def evaluate(sources, *, effort=1.0):
        """In the first matches everybody has good cards."""
        luck = 80.0 if effort < 0.5 else 0.0
        stated = [float(source.split()[2]) for source in sources]
        return tuple(score_of(task, u + luck, 0.1, int(64 * effort)) for u in stated)

    writer = ScriptedWriter([program(1.0, "founder"), lucky, ahead, program(2.0), program(3.0)])
    response = AlphaEvolve(writer, Evolution(islands=1, generations=2, drafts=2)).respond(
        task, evaluate
    )
    founder, stopped, best, *_ = response.attempts
    assert stopped.score.stopped and stopped.score.u == 88.0 > best.score.u
    assert not best.score.stopped and response.best.source == ahead
    assert (founder.kept, stopped.kept, best.kept) == (True, False, True)
    # Nor is it a parent; it may be shown, behind all that was scored in full.
    for draft in writer.asked[3:]:
        assert draft.source != lucky
        assert draft.inspirations[-1][0] == lucky
