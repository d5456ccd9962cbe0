"""Opponents by which a meta-strategy is chosen among mixtures that members cannot tell apart.

Members that play safe draw with each other, so of mixtures that nobody beats by more than the noise
their payoffs cannot tell which is strong (README of the grammar).  Where hidden opponents have a
share of the score that chooses candidates, `nash` therefore takes the mixture with the largest mean
payoff over the population and over yardsticks: strangers and credulous players of the same kinds
(`population.hidden`), which a run draws once, so that all of its members have met the same ones.

They are drawn apart from the hidden opponents, who chose the members and so flatter them.  (One
player of one predictor may be both, now and then; where nothing is dealt, two of its matches with a
member are the same, too.)  Their matches choose and serve nothing else: no prompt or figure is made
from them, and lists that people read leave them out.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.analysis.meta_game import Floats
from arena.values import SELECTING
from oracle.attempts import rng_of
from population.config import RunConfig
from population.hidden import credulous, strangers
from population.matches import Matches
from population.members import Member, task_of
from population.records import Sigma


def beyond_members(
    members: Sequence[Member], matches: Matches, config: RunConfig, run: str
) -> Floats | None:
    """What members return against a run's yardsticks; plays the matches that are missing.

    Args:
      members: of the population, the initial one first.
      matches: plays.
      config: of the run; yardsticks follow from its seed, and play as many matches as a pair.
      run: its name.

    Returns:
      (n, m) mean return of each of the n members against each of the m yardsticks, in the game's
      unit per match; None where the run has none.

    Raises:
      WorkerDied, SandboxError, StoreError: what was played before is stored.
    """
    if not config.has_yardsticks:
        return None
    digests = [member.digest for member in members]
    if not matches.yardsticks:  # a server counts whoever is handed in, known or not
        matches.yardsticks += _drawn(members[0], matches, config, run)
    drawn = [one for one in matches.yardsticks if one not in digests]
    if not drawn:
        return None
    wanted = {(one, other): config.matches.payoff for one in digests for other in drawn}
    table = matches.payoffs([*digests, *drawn], wanted, first=SELECTING)
    return table.mean[: len(digests), len(digests) :]


def _drawn(initial: Member, matches: Matches, config: RunConfig, run: str) -> list[str]:
    """Digests of a run's yardsticks, registered as candidates."""
    sigma = Sigma({initial.digest: 1.0}, 0.0, config.solver)
    task = task_of(matches.game, config, [initial], sigma, 0)  # of no iteration
    rng = rng_of(task, "yardsticks")
    found = (*strangers(task, matches, run, rng), *credulous(task, matches, run, rng))
    return list(dict.fromkeys(one.digest for one in found))
