"""The text of the crowd: a prior over how people play, and what is learnt from it.

A style is a fixed way to play; nobody can list them all.  A crowd is many sorts of players drawn
at random, each with its own chances of playing any one spot (a line of betting) in any of some
hundred ways.  After each hand Bayes' rule weighs the sorts, and within each sort the ways of the
spots that were seen.  The spots of a sort are taken as independent given the sort and the cards,
and a spot is updated with what the other moves say about the hidden card (assumed-density
filtering: Minka, "A family of algorithms for approximate Bayesian inference", 2001, chapter 3).
"""

from __future__ import annotations

SPOTS = '''
def power(rank, public):
    """How good a hand is: J, Q, K are 0, 1, 2; a pair is 3."""
    return 3 if rank == public else rank


SPOTS = [*ROUND, *("/" + letters for letters in ROUND)]  # the betting of a round, before and after
SPOT = np.array([SPOTS.index("/" * ("/" in line) + line.rpartition("/")[2]) for line in LINES])
POWER = everywhere(lambda line, rank, public: power(rank, public))[..., 0]


def spread(rows):
    """From chances at (spot, power, move) to a table (line, rank, public card, move)."""
    return rows[SPOT[:, None, None], POWER]
'''

CROWD = '''
HONEST, BLUFFS, TRAPS, BLIND = range(4)
SLIPS = (0.03, 0.2)  # share of moves that follow no plan: two tempers
DICE = np.random.RandomState(5)  # the same crowd in every match
ANY = DICE.dirichlet((1.0, 1.0, 1.0), 24)  # moves of a player who does not look at the cards


def ways_to_play(hands):
    """Chances at (way, power, move), and of each way: share given up, share raised, sort, temper.

    A way gives up the weakest hands and raises the best ones; where a border lies in the middle
    of a hand, that is played both ways.  Some bluff with weak hands, some hide the best one, and
    some do not look at their cards.
    """
    order, found = np.arange(4), [(np.tile(row, (4, 1)), (row[0], row[2], BLIND, 0)) for row in ANY]
    for up, down in np.ndindex(2 * hands + 1, 2 * hands + 1):
        folded, raised = up / 2, down / 2
        if folded + raised > hands:
            continue
        bets = np.clip(raised - (hands - 1 - order), 0.0, 1.0)
        folds = np.clip(np.minimum(folded - order, 1.0 - bets), 0.0, 1.0)
        bluff = 0.4 * (order < hands // 2)
        plans = {HONEST: (folds, bets), BLUFFS: (folds * (1 - bluff), bets + (1 - bets) * bluff)}
        if raised >= 1.0:
            plans[TRAPS] = (folds, bets * np.where(order == hands - 1, 0.3, 1.0))
        for sort, (folds, bets) in plans.items():
            plan = np.stack((folds, 1.0 - folds - bets, bets), axis=1)
            for temper, slip in enumerate(SLIPS):
                about = (folded / hands, raised / hands, sort, temper)
                found.append(((1.0 - slip) * plan + slip / 3, about))
    return [np.array(columns) for columns in zip(*found)]


class Crowd:
    """Which sort of player it may be, and which way of playing each spot.

    `sorts` are the chances of the sorts, `ways` those of the ways at (sort, spot, way).
    """

    COUNT = 96
    BOTH = [ways_to_play(3), ways_to_play(4)]  # before the public card, after it
    MOST = max(len(plans) for plans, _ in BOTH)

    def __init__(self, fold, bet):
        self.sorts = np.full(self.COUNT, 1.0 / self.COUNT)
        self.plans = np.ones((len(SPOTS), self.MOST, 4, 3))
        self.first = np.zeros((self.COUNT, len(SPOTS), self.MOST))
        for number, spot in enumerate(SPOTS):
            plans, about = self.BOTH["/" in spot]
            legal = np.array([letter in ROUND[spot.strip("/")] for letter in "FCR"])
            calls = (plans * ~legal).sum(axis=2, keepdims=True)
            self.plans[number, : len(plans)] = plans * legal + calls * (0, 1, 0)
        self.draw(np.random.RandomState(5), fold, bet)
        self.ways = self.first.copy()

    def draw(self, dice, fold, bet):
        """What each sort of player does at first.

        Sorts differ in how much they give up and raise, in each round and when raised again; in
        how alike their spots are; and in their tempers, bluffs, traps, and care for the cards.
        """
        count = self.COUNT
        shy, bold = dice.normal(fold, 0.25, count), dice.normal(bet, 0.25, count)
        by_round, again = dice.normal(0.0, 0.12, (2, 2, count)), dice.normal(0.0, 0.15, (2, count))
        width = np.exp(dice.uniform(np.log(0.08), np.log(0.4), count))[:, None]
        plays = np.stack((np.ones(count), 0.8 * dice.rand(count), 0.6 * dice.rand(count)), axis=1)
        plays = plays / plays.sum(axis=1, keepdims=True)
        blind = np.where(dice.rand(count) < 0.25, 0.9, 0.03)[:, None]
        plays = np.concatenate((plays * (1.0 - blind), blind), axis=1)
        wild = dice.rand(count) < 0.2
        temper = np.stack((~wild, wild), axis=1)
        for number, spot in enumerate(SPOTS):
            raises, after = spot.count("R"), int("/" in spot)
            up = shy + by_round[0, after] + (0.05 + again[0]) * (raises == 2)
            down = bold + by_round[1, after] + (again[1] - 0.15) * (raises == 1)
            folded, raised, sort, slip = self.BOTH[after][1].T
            far = np.square((raised - down[:, None]) / width)
            far += np.square((folded - up[:, None]) / width) if raises else 100.0 * (folded > 0.0)
            likely = np.exp(-0.5 * (far - far.min(axis=1, keepdims=True)))
            likely *= plays[:, sort.astype(int)]
            likely *= np.where(sort == BLIND, 1.0, temper[:, slip.astype(int)])
            likely += 1e-6 * likely.max(axis=1, keepdims=True)
            self.first[:, number, : len(folded)] = likely / likely.sum(axis=1, keepdims=True)

    def table(self):
        """What to expect: (line, rank, public card, move)."""
        ways = np.tensordot(self.sorts, self.ways, axes=1)
        return spread(np.einsum("sw,swhm->shm", ways, self.plans))

    def learn(self, moves, cards):
        """Follows a hand.

        `moves` are (spot, power of each rank they may hold, number of the move), `cards` is how
        likely they hold each rank.
        """
        told = [self.plans[spot][:, powers, move] for spot, powers, move in moves]
        chances = [self.ways[:, spot] @ says for (spot, _, _), says in zip(moves, told)]
        joint = cards * np.prod(chances, axis=0)  # (sort, rank)
        for (spot, _, _), says, chance in zip(moves, told, chances):
            ways = self.ways[:, spot] * ((joint / chance) @ says.T)
            ways /= ways.sum(axis=1, keepdims=True)
            self.ways[:, spot] = (1.0 - CHANGE) * ways + CHANGE * self.first[:, spot]
        sorts = self.sorts * joint.sum(axis=1)
        self.sorts = (1.0 - CHANGE) * sorts / sorts.sum() + CHANGE / self.COUNT
'''
