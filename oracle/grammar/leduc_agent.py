"""The text of the player in rendered Leduc policies: weighs styles, looks ahead, replies.

A line that begins with a word in brackets, such as `[crowd]`, is kept only where a policy has
that; see `leduc_render`.
"""

from __future__ import annotations

LEARNED = '''
def learned_table(worth, start, seen):
    """Chances at (spot, move, power), from a table that is worth some moves and what was seen."""
    noted = POOL * seen.sum(axis=2, keepdims=True) + (1.0 - POOL) * seen
    chances = (worth * (0.97 * start + 0.01) + noted) * ALLOWED
    return chances / chances.sum(axis=1, keepdims=True)
'''

BOT_BODY = '''
    def __init__(self):
        self.me = 0
        priors = np.array([prior for *_, prior in STYLES])
        self.priors = self.chances = priors / priors.sum()  # of each style; the latter learns
        self.reach = [reach.copy() for reach in REACH]
[crowd]        self.crowds = {number: crowd.copy() for number, crowd in CROWDS.items()}
[strangers]        self.who = {number: group.alike for number, group in STRANGERS.items()}
[learned]        self.seen = np.zeros((len(SPOTS), 3, 4))  # how often folded, called, raised
        self.forget_plan()

    def forget_plan(self):
        """Lets what to do follow what was seen since last time."""
        self.plan, self.fresh = None, set()

    def restart(self, player_id):
        self.me = player_id

    def act(self, obs):
        view = obs["player_view"]
        self.me, mine = view["player_id"], RANKS[view["hand"]]
        line, public = self.read(obs)
        worth = self.options(line, public, mine)
        moves = {letter: name for name in view["legal_actions"] for letter in name[0]}
        even = dict(zip("FCR", balanced(line, mine, public)))
        best = max(moves, key=worth.__getitem__)
        if worth[best] - sum(even[letter] * worth[letter] for letter in moves) > CAUTION:
            return moves[best]
        return random.choices(list(moves.values()), [even[letter] + 1e-9 for letter in moves])[0]

    def receive_outcome(self, obs):
        """Weighs the styles by how well they explain the hand, and learns from it."""
        mine, (line, public) = RANKS[obs["player_view"]["hand"]], self.read(obs)
        theirs = [step for step in steps(line) if step[2] != self.me]
        if not theirs:
            return
        cards = np.array([2.0 - (rank == mine) - (rank == public) for rank in CARDS])
        for hand in (obs["game_result"] or {}).get("showdown_hands") or ():
            if hand["player_id"] != self.me:
                cards[[rank for rank in CARDS if rank != RANKS[hand["hand"]]]] = 0.0
        reach = self.reach_of_styles()[:, ROW[line], :, public or 0]
        suspects = self.chances[:, None] * cards * reach  # (style, rank of their card)
        fits = suspects.sum(axis=1) + 1e-12
        self.chances = (1.0 - CHANGE) * fits / fits.sum() + CHANGE * self.priors
[live]        numbers = [ROW[before] - len(ENDINGS) for before, _, _ in theirs]
[live]        spots, powers = SPOT[numbers], POWER[numbers, :, public or 0]
[live]        moves = np.array(["FCR".index(letter) for _, letter, _ in theirs])
[learned]        ranks = suspects.sum(axis=0) / (suspects.sum() or 1.0)  # nobody may play like this
[learned]        self.seen[spots[:, None], moves[:, None], powers] += ranks
[strangers]        for number, group in STRANGERS.items():
[strangers]            known = self.me, ROW[line], public or 0, cards
[strangers]            self.who[number] = group.weigh(self.who[number], *known)
[crowd]        for crowd in self.crowds.values():
[crowd]            crowd.learn(spots, powers, moves, cards)
        self.forget_plan()

    def read(self, obs):
        """The line so far, and the public card."""
        history, card = obs["action_history"], obs["public_state"]["public_card"]
        line, then = (
            "".join(event["action"][0] for event in history[stage])
            for stage in ("PREFLOP", "POSTFLOP")
        )
        return (line, None) if card is None else (f"{line}/{then}", RANKS[card])

    def reach_of_styles(self):
        """Chance that each style makes its moves on the way to each row, if I sit where I sit."""
[moving]        if self.me not in self.fresh:
[moving]            self.fresh.add(self.me)
[strangers]            for number, group in STRANGERS.items():
[strangers]                self.reach[self.me][number] = group.reach(self.me, self.who[number])
[uncrowded]            expected = EXPECTED
[crowd]            for number, crowd in self.crowds.items():
[crowd]                expected = crowd.table()
[crowd]                self.reach[self.me][number] = PATHS[self.me].reach(expected)
[learned]            for number, (kind, worth, _, _) in enumerate(STYLES):
[learned]                if kind == "learned":
[learned]                    table = learned_table(worth, expected, self.seen)
[learned]                    self.reach[self.me][number] = PATHS[self.me].reach(table)
        return self.reach[self.me]

    # ----- expected chips, if the styles are weighted right and I play on as well as I can -----

    def options(self, line, public, mine):
        """Chips that each legal letter is worth."""
        if self.plan is None:
            self.plan = self.think(mine)
        first, then, total = self.plan
        if public is None:
            weight = total[ROW[line]].sum() or 1.0  # 0 where nobody would play like this
            return {letter: float(value) / weight for letter, value in first[line].items()}
        start, _, letters = line.partition("/")
        place, weight = (CALLED.index(start), public), total[ROW[line], public] or 1.0
        return {letter: float(value[place]) / weight for letter, value in then[letters].items()}

    def think(self, mine):
        """Values of both rounds of this hand, and the chance to be at each row with each card."""
        reach = self.reach_of_styles()
        expected = (self.chances @ reach.reshape(len(STYLES), -1)).reshape(reach.shape[1:])
        total = (expected * SEATS[self.me].worth[mine]).sum(axis=1)  # (row, public card)
        places = len(FOLDED) + len(CALLED)
        later = total[len(FOLDED) : len(ENDINGS)].reshape(len(CALLED), places, 3)
        ends = {letters: later[:, place] for place, letters in enumerate((*FOLDED, *CALLED))}
        # All first rounds and all public cards at once.
        then, start = self.play_on(ends, np.maximum, np.add)
        ends = {letters: float(total[ROW[letters]].sum()) for letters in FOLDED}
        ends |= dict(zip(CALLED, start.sum(axis=1).tolist()))
        first, _ = self.play_on(ends, max, operator.add)
        return first, then, total

    def play_on(self, ends, best, both):
        """What each letter of a round is worth, {letters: {letter: value}}, and the whole round."""
        worth, value = {}, dict(ends)
        for letters in reversed(ROUND):  # longer lines first
            worth[letters] = {letter: value[letters + letter] for letter in ROUND[letters]}
            join = best if len(letters) % 2 == self.me else both
            value[letters] = functools.reduce(join, worth[letters].values())
        return worth, value[""]
'''
