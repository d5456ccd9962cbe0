"""The text of the strangers: whole players drawn at random, weighed hand by hand.

A crowd learns each spot of betting for itself, so it has to see a spot before it knows it.  A
stranger is a complete way to play: what one hand says about it counts in every other spot, in
either seat and for any card.  None is meant to be met; together they say what players are like
who reckon, who have habits, who tilt balanced play, and who are between two of these.

Exact Bayesian weighing of a sample from the prior is importance sampling; it learns quickly and
stays coarse, and the crowd beside it is fine and slower.
"""

from __future__ import annotations

STRANGERS = '''
def price(line):
    """What a call costs, as a share of what is then on the table."""
    paid = [1, 1]
    for before, letter, seat in steps(line):
        paid[seat] = max(paid) + (letter == "R") * (4 if "/" in before else 2)
    return (max(paid) - min(paid)) / (2 * max(paid))


LAST = [line.rpartition("/")[2] for line in LINES]  # the betting of the round
AFTER = np.array([int("/" in line) for line in LINES])
FACING = np.array([int(letters.endswith("R")) for letters in LAST])  # a raise
RAISES = np.array([letters.count("R") for letters in LAST])
PRICE = np.array([price(line) for line in LINES])
BEATEN = (SHOWDOWN + 1) / 2 * DEAL
FEEL = np.where(  # chance to beat any card: (line, rank, public card)
    AFTER[:, None, None],
    BEATEN.sum(axis=1) / DEAL.sum(axis=1),
    (BEATEN.sum(axis=(1, 2)) / DEAL.sum(axis=(1, 2)))[:, None],
)


def logistic(x):
    """0 well below 0, 1 well above it."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -30.0, 30.0)))


def reckoners(dice, count, fold, bet):
    """Players who raise hands that feel good enough, and give up those not worth the price."""

    def around(spread, *shape):
        return dice.normal(0.0, spread, (count, *shape))

    bar = dice.uniform(0.7, 1.4, (count, 1)) - bet + around(0.08, 2)[:, AFTER]
    bar += (0.1 + around(0.12, 1)) * RAISES
    need = PRICE * np.exp(around(0.5, 1)) + around(0.08, 2)[:, AFTER] + fold - 0.35
    bar, need = bar[..., None, None], need[..., None, None]
    width = np.exp(dice.uniform(np.log(0.02), np.log(0.2), (count, 1, 1, 1)))
    bluff, trap = (
        often * dice.rand(count, 1, 1, 1) * (dice.rand(count, 1, 1, 1) < share)
        for often, share in ((0.5, 0.5), (0.9, 0.35))
    )
    bets = logistic((FEEL - bar) / width)
    bets = np.where(FEEL < 0.4, np.maximum(bets, bluff), bets)
    bets = np.where(FEEL > 0.7 + 0.1 * AFTER[:, None, None], bets * (1.0 - trap), bets)
    folds = logistic((need - FEEL) / width) * FACING[:, None, None] * (1.0 - bets)
    return np.stack((folds, 1.0 - folds - bets, bets), axis=-1)


def creatures_of_habit(dice, count):
    """Players with any chances in any spot; most raise good hands more often than bad ones."""
    mean = dice.dirichlet((1.0, 1.5, 1.0), (count, 2, 2))
    strict = np.exp(dice.uniform(np.log(0.7), np.log(20.0), (count, 1, 1, 1)))
    first = [list(SPOT).index(number) for number in range(len(SPOTS))]
    kept = np.maximum(mean * strict, 0.05)[:, AFTER[first], FACING[first], None]
    chances = dice.standard_gamma(np.broadcast_to(kept, (count, len(SPOTS), 4, 3))) + 1e-9
    chances /= chances.sum(axis=3, keepdims=True)
    order = np.argsort(chances[..., 2] - chances[..., 0], axis=2)
    rising = np.take_along_axis(chances, order[..., None], axis=2)
    chances = np.where(dice.rand(count, 1, 1, 1) < 0.75, rising, chances)
    return chances[:, SPOT[:, None, None], POWER]


def tilters(dice, count):
    """Players who do too much or too little of what balanced play does."""
    spread = dice.uniform(0.3, 1.6, (count, 1, 1, 1))
    tilts = np.exp(dice.normal(0.0, 1.0, (count, 2, 2, 3)) * spread)[:, AFTER, FACING]
    chances = (EVEN + 1e-3) * tilts[:, :, None, None]
    return chances / chances.sum(axis=-1, keepdims=True)


class Strangers:
    """Many players: how likely each makes its moves on the way to each row, in either seat."""

    RECKON, HABITS, TILTS, BLENDS = 80, 60, 20, 80  # how many of each
    SLIP = 0.1  # share of moves that follow no plan

    def __init__(self, fold, bet):
        dice = np.random.RandomState(9)
        drawn = (
            reckoners(dice, self.RECKON, fold, bet),
            creatures_of_habit(dice, self.HABITS),
            tilters(dice, self.TILTS),
        )
        plans = np.concatenate(drawn).astype(np.float32) * LEGAL
        plans[..., 1] += 1.0 - plans.sum(axis=-1)  # what is not allowed becomes a call
        one, other = dice.randint(len(plans), size=(2, self.BLENDS))
        share = dice.uniform(0.2, 0.8, (self.BLENDS, 1, 1, 1, 1)).astype(np.float32)
        # In place: there are many.
        first, second = plans[one], plans[other]
        first *= share
        second *= 1.0 - share
        first += second
        plans = np.concatenate((plans, first))
        plans *= 1.0 - self.SLIP
        plans += (self.SLIP * LEGAL / LEGAL.sum(axis=3, keepdims=True)).astype(np.float32)
        self.alike = np.full(len(plans), 1.0 / len(plans))
        self.paths = [self.walk(seat, plans) for seat in SEATS]

    def walk(self, seat, plans):
        """Like `Seat.reach`, for all of them: (player, row, their rank, public card)."""
        moves = np.moveaxis(plans, 4, 2).reshape(len(plans), -1, 3, 3)
        moves = np.concatenate((moves, np.ones_like(moves[:, :1])), axis=1)
        found = moves[:, seat.ways[:, 0]]
        for step in seat.ways.T[1:]:
            found *= moves[:, step]
        return found

    def reach(self, me, chances):
        """The same for one who is each of them with some chance; the unlikely do not count."""
        likely = chances > 0.2 / len(chances)
        weights = chances[likely] / chances[likely].sum()
        paths = self.paths[me][likely]
        return (weights.astype(np.float32) @ paths.reshape(len(paths), -1)).reshape(paths.shape[1:])

    def weigh(self, chances, me, row, public, cards):
        """How likely each of them is after a hand that went down a row."""
        fits = chances * (self.paths[me][:, row, :, public] @ cards)
        return (1.0 - CHANGE) * fits / fits.sum() + CHANGE * self.alike


STRANGERS = {
    n: Strangers(fold, bet) for n, (kind, fold, bet, _) in enumerate(STYLES) if kind == "strangers"
}
'''
