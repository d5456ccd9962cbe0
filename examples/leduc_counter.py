"""Example for repeated Leduc hold'em: guess the opponent's card, then count chips.

Where the starter policy goes by its own card, this one keeps a table of what the opponent does
with each kind of hand, filled in at showdowns, and reads it backwards: given what the opponent
did in this hand, how likely is each card?  From that follow the chance to win a showdown and the
average result, in chips, of folding, calling and raising.  It takes the best of them.

The table starts from a mild belief that better hands raise more, so that the policy is sensible
in its first hands.  Against a mirror image of itself it is far from a perfect player.
"""

RANKS = ("J", "Q", "K")
ACTIONS = ("FOLD", "CALL", "RAISE")
BET = {"PREFLOP": 2, "POSTFLOP": 4}
# Weight of the first belief in (fold, call, raise) when facing a raise, and when not.
FACING = {0: (2.0, 2.0, 0.3), 1: (1.0, 2.5, 0.8), 2: (0.3, 2.5, 1.5), 3: (0.1, 1.5, 2.5)}
FREE = {0: (0.0, 3.0, 0.6), 1: (0.0, 3.0, 1.0), 2: (0.0, 2.0, 2.0), 3: (0.0, 1.5, 3.0)}


def class_of(rank, public):
    """0 to 2 by rank, 3 for a pair."""
    return 3 if rank == public else RANKS.index(rank)


def opponent_moves(history, me):
    """Yields (round, whether it faced a raise, action) for each move of the opponent."""
    for stage in ("PREFLOP", "POSTFLOP"):
        facing = False
        for move in history[stage]:
            if move["player_id"] != me:
                yield stage, facing, move["action"]
            facing = move["action"] == "RAISE"


class RepeatedLeducPokerBot:
    """One instance plays one match of many hands."""

    def __init__(self):
        self.me = 0
        self.counts = {
            (stage, facing, hand): list(prior[hand])
            for stage in BET
            for facing, prior in ((True, FACING), (False, FREE))
            for hand in range(4)
        }

    def restart(self, player_id):
        """A new hand begins."""
        self.me = player_id

    def act(self, observation):
        """Returns the action with the best expected result."""
        view, public = observation["player_view"], observation["public_state"]
        chips = public["chips"]
        mine_in, theirs_in = 100 - chips[self.me], 100 - chips[1 - self.me]
        stage, card = public["round"], public["public_card"]
        guess = self.guess(observation, view["hand"], card)
        share = self.share(guess, view["hand"], card)

        values = {"CALL": (2 * share - 1) * max(mine_in, theirs_in)}
        if "FOLD" in view["legal_actions"]:
            values["FOLD"] = -mine_in
        if "RAISE" in view["legal_actions"]:
            stake = max(mine_in, theirs_in) + BET[stage]
            folds, stays = self.answer_to_raise(guess, stage, card)
            against = self.share(stays, view["hand"], card)
            values["RAISE"] = folds * theirs_in + (1 - folds) * (2 * against - 1) * stake
        return max(values, key=values.get)

    def receive_outcome(self, observation):
        """Learns from the cards where they were shown, and a little where somebody folded."""
        result = observation["game_result"]
        history, card = observation["action_history"], observation["public_state"]["public_card"]
        weights = {}
        if result["showdown_hands"]:
            for shown in result["showdown_hands"]:
                if shown["player_id"] != self.me:
                    weights[shown["hand"]] = 1.0
        else:
            weights = self.guess(observation, observation["player_view"]["hand"], card)
        for rank, weight in weights.items():
            for stage, facing, action in opponent_moves(history, self.me):
                # The public card is not known before the flop.
                hand = class_of(rank, card if stage == "POSTFLOP" else None)
                self.counts[stage, facing, hand][ACTIONS.index(action)] += weight

    def chances(self, stage, facing, hand):
        """Estimated chances of fold, call and raise."""
        counts = self.counts[stage, facing, hand]
        total = sum(counts)
        return [count / total for count in counts]

    def guess(self, observation, mine, card):
        """Chance of each card that the opponent may hold, given its moves in this hand."""
        weights = {}
        for rank in RANKS:
            weight = 2.0 - (rank == mine) - (rank == card)  # copies left in the deck
            for stage, facing, action in opponent_moves(observation["action_history"], self.me):
                hand = class_of(rank, card if stage == "POSTFLOP" else None)
                weight *= self.chances(stage, facing, hand)[ACTIONS.index(action)] + 1e-6
            weights[rank] = weight
        total = sum(weights.values()) or 1.0
        return {rank: weight / total for rank, weight in weights.items()}

    def share(self, guess, mine, card):
        """Share of the pot to expect at a showdown, draws counted half."""
        if card is None:  # average over the public cards that may come
            future = {rank: 2.0 - (rank == mine) for rank in RANKS}
            total = sum(future.values())
            return sum(n / total * self.share(guess, mine, rank) for rank, n in future.items())
        own = class_of(mine, card)
        wins = {rank: (own > class_of(rank, card)) + 0.5 * (rank == mine) for rank in RANKS}
        return sum(guess[rank] * wins[rank] for rank in RANKS)

    def answer_to_raise(self, guess, stage, card):
        """(Chance that the opponent folds to a raise, its cards where it does not)."""
        stays = {}
        for rank, weight in guess.items():
            hand = class_of(rank, card if stage == "POSTFLOP" else None)
            stays[rank] = weight * (1.0 - self.chances(stage, True, hand)[0])
        total = sum(stays.values())
        if total < 1e-9:
            return 1.0, guess
        return 1.0 - total, {rank: weight / total for rank, weight in stays.items()}
