"""The text of the crowd: a prior over how people play, and what is learnt from it.

A style is a fixed way to play; nobody can list them all.  A crowd is many sorts of players drawn
at random, each with its own chances of playing any one spot (a line of betting) in any of some
hundred ways.  After each hand Bayes' rule weighs the sorts, and within each sort the ways of the
spots that were seen.  The spots of a sort are taken as independent given the sort and the cards,
and a spot is updated with what the other moves say about the hidden card (assumed-density
filtering: Minka, "A family of algorithms for approximate Bayesian inference", 2001, chapter 3).

A line that begins with a word in brackets is kept only where a policy has that; see `leduc_render`.
"""

from __future__ import annotations

SPOTS = '''
def power(rank, public):
    """How good a hand is: J, Q, K are 0, 1, 2; a pair is 3."""
    return 3 if rank == public else rank


SPOTS = [*ROUND, *("/" + letters for letters in ROUND)]  # the betting of a round, before and after
SPOT = np.array([SPOTS.index("/" * ("/" in line) + line.rpartition("/")[2]) for line in LINES])
POWER = everywhere(lambda line, rank, public: power(rank, public))[..., 0]
ALLOWED = np.array([[x in ROUND[spot.strip("/")] for x in "FCR"] for spot in SPOTS])[:, :, None]


class Paths:
    """How likely a way to play at (spot, move, power) gets to each row of a seat's table."""

    def __init__(self, seat):
        first = 12 * SPOT[:, None, None, None] + 4 * np.arange(3)[:, None, None]
        number = (first + POWER[:, None]).reshape(-1, 3, 3)
        nothing = np.full((1, 3, 3), 12 * len(SPOTS))
        self.moves = np.moveaxis(np.concatenate((number, nothing))[seat.ways], 1, 0).copy()

    def reach(self, table):
        """Like `Seat.reach`."""
        return np.append(table, 1.0).take(self.moves).prod(axis=0)


PATHS = [Paths(seat) for seat in SEATS]
'''

UNCROWDED = '''
def by_spot(table):
    """The mean at (spot, move, power) of what looks alike there."""
    sums, counts = np.zeros((2, len(SPOTS), 3, 4))
    for move in range(3):
        np.add.at(sums[:, move], (SPOT[:, None, None], POWER), table[..., move])
        np.add.at(counts[:, move], (SPOT[:, None, None], POWER), 1.0)
    return sums / np.maximum(counts, 1.0)


EXPECTED = by_spot(EVEN)
'''

CROWD = '''
HONEST, BLUFFS, TRAPS, BLIND = range(4)
SLIP = 0.05  # share of moves that follow no plan
ANY = np.random.RandomState(5).dirichlet((1.0, 1.0, 1.0), 24)  # of players who look at no card


def ways_to_play(hands):
    """Chances at (way, move, power), and of each way: share given up, share raised, sort.

    A way gives up the weakest hands and raises the best ones; where a border lies in the middle
    of a hand, that is played both ways.  Some bluff with weak hands, some hide the best one, and
    some do not look at their cards.
    """
    order, halves = np.arange(4), np.arange(2 * hands + 1) / 2
    grid = np.array([(up, down) for up in halves for down in halves if up + down <= hands])
    bets = np.clip(grid[:, 1:] - (hands - 1 - order), 0.0, 1.0)
    folds = np.clip(np.minimum(grid[:, :1] - order, 1.0 - bets), 0.0, 1.0)
    bluff, bold = 0.4 * (order < hands // 2), grid[:, 1] >= 1.0
    hidden = bets[bold] * np.where(order == hands - 1, 0.3, 1.0)
    honest = (HONEST, grid / hands, folds, bets)
    bluffs = (BLUFFS, grid / hands, folds * (1.0 - bluff), bets + (1.0 - bets) * bluff)
    traps = (TRAPS, grid[bold] / hands, folds[bold], hidden)
    plans = [np.repeat(ANY[:, :, None], 4, axis=2)]
    about = [(up, down, BLIND) for up, _, down in ANY]
    for sort, shares, folds, bets in (honest, bluffs, traps):
        plan = np.stack((folds, 1.0 - folds - bets, bets), axis=1)
        plans.append((1.0 - SLIP) * plan + SLIP / 3)
        about += [(up, down, sort) for up, down in shares]
    return np.concatenate(plans), np.array(about)


class Crowd:
    """Which sort of player it may be, and which way of playing each spot.

    `sorts` are the chances of the sorts, `ways` those of the ways at (spot, way, sort), and
    `expected` is what each sort does, at (spot, move, power, sort).
    """

    COUNT = 32
    BOTH = [ways_to_play(3), ways_to_play(4)]  # before the public card, after it
    MOST = max(len(plans) for plans, _ in BOTH)

    def __init__(self, fold, bet):
        self.sorts = np.full(self.COUNT, 1.0 / self.COUNT)
        self.plans = np.ones((len(SPOTS), 3, 4, self.MOST), np.float32)
        for number, spot in enumerate(SPOTS):
            plans = np.moveaxis(self.BOTH["/" in spot][0], 0, 2).copy()
            plans[1] += (plans * ~ALLOWED[number, :, None]).sum(axis=0)  # call what is not allowed
            self.plans[number, ..., : plans.shape[2]] = plans * ALLOWED[number, :, None]
        self.ways = np.zeros((len(SPOTS), self.MOST, self.COUNT), np.float32)
        self.draw(np.random.RandomState(5), fold, bet)
        self.drift = np.float32(CHANGE) * self.ways
        self.expected = self.expect(np.arange(len(SPOTS)))

    def draw(self, dice, fold, bet):
        """What each sort of player does at first.

        Sorts differ in how much they give up and raise, in each round and when raised again; in
        how alike their spots are; and in their bluffs, traps, and care for the cards.
        """
        count = self.COUNT
        shy, bold = dice.normal(fold, 0.25, count), dice.normal(bet, 0.25, count)
        by_round, again = dice.normal(0.0, 0.12, (2, 2, count)), dice.normal(0.0, 0.15, (2, count))
        width = np.exp(dice.uniform(np.log(0.08), np.log(0.4), count))[:, None]
        plays = np.stack((np.ones(count), 0.8 * dice.rand(count), 0.6 * dice.rand(count)), axis=1)
        plays = plays / plays.sum(axis=1, keepdims=True)
        blind = np.where(dice.rand(count) < 0.25, 0.9, 0.03)[:, None]
        plays = np.concatenate((plays * (1.0 - blind), blind), axis=1)
        for number, spot in enumerate(SPOTS):
            raises, after = spot.count("R"), int("/" in spot)
            up = shy + by_round[0, after] + (0.05 + again[0]) * (raises == 2)
            down = bold + by_round[1, after] + (again[1] - 0.15) * (raises == 1)
            folded, raised, sort = self.BOTH[after][1].T
            far = np.square((raised - down[:, None]) / width)
            far += np.square((folded - up[:, None]) / width) if raises else 100.0 * (folded > 0.0)
            likely = np.exp(-0.5 * (far - far.min(axis=1, keepdims=True)))
            likely *= plays[:, sort.astype(int)]
            likely += 1e-6 * likely.max(axis=1, keepdims=True)
            self.ways[number, : len(folded)] = (likely / likely.sum(axis=1, keepdims=True)).T

    def copy(self):
        """The same crowd, to learn with."""
        other = copy.copy(self)
        other.ways, other.expected = self.ways.copy(), self.expected.copy()
        return other

    def expect(self, spots):
        """What each sort does at some spots: (spot, move, power, sort)."""
        plans = self.plans[spots].reshape(len(spots), 12, -1)
        return (plans @ self.ways[spots]).reshape(-1, 3, 4, self.COUNT)

    def table(self):
        """What to expect: (spot, move, power)."""
        return self.expected @ self.sorts

    def learn(self, spots, powers, moves, cards):
        """Follows a hand.

        For each of their moves its spot, the power of each rank that they may hold, and its
        number; `cards` is how likely they hold each rank.
        """
        where = spots[:, None], moves[:, None], powers
        chances = self.expected[where]  # (move made, rank, sort)
        joint = cards[:, None] * chances.prod(axis=0)
        fits = (joint / chances).astype(np.float32)  # without what the way itself says
        ways = self.ways[spots] * (self.plans[where].transpose(0, 2, 1) @ fits)
        ways *= np.float32(1.0 - CHANGE) / ways.sum(axis=1, keepdims=True)
        self.ways[spots] = ways + self.drift[spots]
        self.expected[spots] = self.expect(spots)
        sorts = self.sorts * joint.sum(axis=0)
        self.sorts = (1.0 - CHANGE) * sorts / sorts.sum() + CHANGE / self.COUNT


CROWDS = {n: Crowd(fold, bet) for n, (kind, fold, bet, _) in enumerate(STYLES) if kind == "crowd"}
'''
