"""The table of repeated Leduc hold'em: many matches of 100 hands, each at its own pace.

Standard library only and no import from this project: a sandbox runs this very file inside its
box, next to the sealed policies.

A hand is a walk through a betting tree of 36 decisions and 49 ends (`NODES`).  A message names
places in that tree and ranks of cards, never more than its receiver may know, in 6 bytes:

    0  what it carries: OUTCOME + RESTART + ACT, or IDLE
    1  ACT: the decision's node
    2  the receiver's view of the hand that goes on: player, own rank, public rank (`_view`)
    3  OUTCOME: the node where the hand before ended
    4  the receiver's view of that hand
    5  the other player's rank if that hand came to a showdown, else HIDDEN

A reply is one byte: an action, or a code (see the constants).  The player who acts second hears
of a new hand together with his first decision, which comes in every hand, so that only the very
last message of a match asks for nothing.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

LENGTH = 100
"""Hands in a match."""
MESSAGE_BYTES = 6
ACTIONS = ("FOLD", "CALL", "RAISE")
"""In the engine's order; an action's number is its index."""
FOLD, CALL, RAISE = range(3)

IDLE = 254
"""First byte of a message that asks for nothing."""
NONE = 253
"""Reply to a message that asks for no action."""
MALFORMED = 252
"""The policy answered with something that is not exactly a `str`."""
ILLEGAL = 251
"""The policy answered with a string that is no action, or with an action that is not legal."""
RAISED = 250
"""The policy raised; the caller puts this in, `Seat.reply` lets the exception pass."""
FIRST_FAULT_CODE = 240
"""240 to 249 are fault codes that only the caller gives a meaning."""
ACT, RESTART, OUTCOME = 1, 2, 4

RANKS, SUITS = ("J", "Q", "K"), 2
HIDDEN = 3
"""Stands for a rank that the receiver may not know."""
DEALS = tuple(itertools.permutations(range(SUITS * len(RANKS)), 3))
"""Every ordered deal of cards 0 to 5: player 0's, player 1's, the public one."""

STACK, ANTE = 100, 1
"""Chips that a player brings to each hand, and that he pays for his card."""
RAISE_CHIPS, MOST_RAISES = (2, 4), 2
"""How much a raise adds before and after the public card; how many there may be in each round."""
_NOWHERE = 255
Rounds = tuple[tuple[int, ...], tuple[int, ...]]


def rank_of(card: int) -> int:
    """Index into `RANKS` of a card."""
    return card // SUITS


class Node(NamedTuple):
    """A place in the betting of one hand.

    Attributes:
      rounds: the actions so far, before and after the public card.
      public: whether the public card lies open.
      actor: the player to act, or None where the hand is over.
      legal: numbers of the actions that he may take.
      paid: chips that players 0 and 1 have put into the pot.
      folded: the player who folded, or None.
    """

    rounds: Rounds
    public: bool
    actor: int | None
    legal: tuple[int, ...]
    paid: tuple[int, int]
    folded: int | None


def _node(rounds: Rounds) -> Node:
    """Follows the betting from the antes on.  Player 0 opens both rounds."""
    paid, public = [ANTE, ANTE], False
    for number, actions in enumerate(rounds):
        raises, actor = 0, 0
        for at, action in enumerate(actions):
            if action == FOLD:
                return Node(rounds, public, None, (), (paid[0], paid[1]), actor)
            paid[actor] = max(paid)
            if action == RAISE:
                paid[actor] += RAISE_CHIPS[number]
                raises += 1
            elif at > 0:  # a call ends the round, unless it was the first thing said in it
                break
            actor = 1 - actor
        else:
            fold = (FOLD,) if paid[0] != paid[1] else ()
            more = (RAISE,) if raises < MOST_RAISES else ()
            return Node(rounds, public, actor, (*fold, CALL, *more), (paid[0], paid[1]), None)
        public = True
    return Node(rounds, public, None, (), (paid[0], paid[1]), None)


def line_after(node: Node, action: int) -> Rounds:
    """The actions of both rounds once the player to act has done that."""
    before, later = node.rounds
    return (before, (*later, action)) if node.public else ((*before, action), later)


def _betting_tree() -> tuple[Node, ...]:
    """All nodes, decisions first, short lines before long ones."""
    found = [_node(((), ()))]
    for node in found:
        found.extend(_node(line_after(node, action)) for action in node.legal)
    found.sort(key=lambda node: (node.actor is None, len(sum(node.rounds, ())), node.rounds))
    return tuple(found)


NODES = _betting_tree()
"""The betting tree of one hand."""
DECISIONS = sum(node.actor is not None for node in NODES)
"""So many of the nodes, the first ones, are decisions; the others are ends."""
NODE_AFTER = {node.rounds: number for number, node in enumerate(NODES)}
"""The actions of both rounds to the node that they lead to."""


_NEXT = tuple(
    bytes(
        NODE_AFTER[line_after(node, reply)] if reply in node.legal else _NOWHERE
        for reply in range(256)
    )
    for node in NODES
)
"""`_NEXT[node][reply]` is a node, or 255 where the reply is no legal action."""
_ACTORS = bytes(node.actor for node in NODES if node.actor is not None)
_OPENINGS = frozenset(_NEXT[0][action] for action in NODES[0].legal)
"""Where the player who acts second decides for the first time."""


def _view(deal: int, node: Node, player: int) -> int:
    """One byte, in pairs of bits: who the player is, his rank, the public one (or HIDDEN)."""
    public = rank_of(DEALS[deal][2]) if node.public else HIDDEN
    return player << 4 | rank_of(DEALS[deal][player]) << 2 | public


def _ending(deal: int, end: int, player: int) -> bytes:
    """Bytes 3 to 5 of a message about that end of that deal, to that player."""
    shown = rank_of(DEALS[deal][1 - player]) if NODES[end].folded is None else HIDDEN
    return bytes((end, _view(deal, NODES[end], player), shown))


_ASK = tuple(
    tuple(
        bytes((ACT, number, _view(deal, node, node.actor), 0, 0, 0))
        for number, node in enumerate(NODES)
        if node.actor is not None
    )
    for deal in range(len(DEALS))
)
"""`_ASK[deal][decision]`: the message that asks for it."""


def dealt(deal_seed: int) -> tuple[int, tuple[int, ...]]:
    """Everything that chance decides in a match, fixed before its first action.

    Returns:
      the seat of player 0 in the first hand (they change places every hand), and for each hand
      an index into `DEALS`.
    """
    # Only `random()` is promised to give the same numbers in every version of Python.
    uniform = random.Random(deal_seed).random
    return int(uniform() * 2), tuple(int(uniform() * len(DEALS)) for _ in range(LENGTH))


def hand_returns(node: Node, ranks: tuple[int, int], public: int) -> tuple[int, int]:
    """What players 0 and 1, with cards of these ranks, win in a hand that ended there."""
    if node.folded is not None:
        won = node.paid[node.folded]
        return (-won, won) if node.folded == 0 else (won, -won)
    # A pair beats everything, then the higher card; only one player can pair.
    strength = [len(RANKS) if rank == public else rank for rank in ranks]
    won = node.paid[0] * ((strength[0] > strength[1]) - (strength[0] < strength[1]))
    return (won, -won)


def _history(actions: tuple[int, ...]) -> list[dict[str, Any]]:
    # Players take turns in each round, and player 0 opens both.
    return [{"player_id": at & 1, "action": ACTIONS[action]} for at, action in enumerate(actions)]


def _observation(number: int, view: int) -> dict[str, Any]:
    """What a player sees at a decision of his; made anew each time, for the policy to keep."""
    (before, after), public, _, legal, (paid_0, paid_1), _ = NODES[number]
    player, own, public_rank = view >> 4, view >> 2 & 3, view & 3
    return {
        "player_view": {
            "player_id": player,
            "current_player": True,
            "hand": RANKS[own],
            "legal_actions": [ACTIONS[action] for action in legal],
        },
        "public_state": {
            "round": "POSTFLOP" if public else "PREFLOP",
            "chips": [STACK - paid_0, STACK - paid_1],
            "pot_size": paid_0 + paid_1,
            "public_card": RANKS[public_rank] if public else None,
        },
        "action_history": {"PREFLOP": _history(before), "POSTFLOP": _history(after)},
        "game_result": None,
    }


def _final_observation(number: int, view: int, shown: int) -> dict[str, Any]:
    """What a player sees of a hand that is over; `shown` is the other's rank, or HIDDEN."""
    seen = _observation(number, view)
    player, own, public_rank = view >> 4, view >> 2 & 3, view & 3
    ranks = (own, shown) if player == 0 else (shown, own)
    won = hand_returns(NODES[number], ranks, public_rank)
    hands = None
    if shown != HIDDEN:
        hands = [{"player_id": who, "hand": RANKS[rank]} for who, rank in enumerate(ranks)]
    seen["player_view"]["current_player"] = False
    seen["public_state"]["chips"] = [STACK + chips for chips in won]
    seen["public_state"]["pot_size"] = 0
    seen["game_result"] = {
        "outcome": "SHOWDOWN" if hands else "FOLD",
        "returns": [*won],
        "showdown_hands": hands,
    }
    return seen


class Seat:
    """One policy instance at one match.

    `reply(message)` is a closure over everything that it needs, `type` included: what the policy
    does to modules later on changes nothing here.
    """

    __slots__ = ("reply",)

    reply: Callable[[bytes], int]
    """Answers one message with an action's number, or NONE, ILLEGAL or MALFORMED."""

    def __init__(self, policy: Any) -> None:
        act, restart, receive_outcome = policy.act, policy.restart, policy.receive_outcome
        type_of, text = type, str
        number_of = {name: number for number, name in enumerate(ACTIONS)}.get
        observation, final_observation = _observation, _final_observation
        idle, none, illegal, malformed = IDLE, NONE, ILLEGAL, MALFORMED

        def reply(message: bytes) -> int:
            carries, node, view, end, end_view, shown = message
            if carries == idle:
                return none
            if carries & OUTCOME:
                receive_outcome(final_observation(end, end_view, shown))
            if carries & RESTART:
                restart(view >> 4)
            if not carries & ACT:
                return none
            answer = act(observation(node, view))
            if type_of(answer) is not text:  # a subclass of str could lie about equality
                return malformed
            return number_of(answer, illegal)

        self.reply = reply


class _Match:
    """Where one match stands.

    Attributes:
      hand: number of the hand that goes on, from 0; `flip` is the seat of player 0 in it.
      node: its decision; an end once the last hand is over and its outcome is being told.
      asked: the flat seat that decides.
      ended: of the hand before: the last three bytes of what players 0 and 1 are told.
      moves: all actions so far.
    """

    __slots__ = ("asked", "deals", "ended", "flip", "hand", "moves", "node")

    def __init__(self, deal_seed: int, first_flat_seat: int) -> None:
        self.flip, self.deals = dealt(deal_seed)
        self.hand = self.node = 0
        self.asked = first_flat_seat + self.flip
        self.ended = (bytes(3), bytes(3))
        self.moves = bytearray()

    def question(self) -> bytes:
        """The message that asks for the decision and carries nothing else."""
        return _ASK[self.deals[self.hand]][self.node]

    def announcement(self, player: int) -> bytes:
        """A player's first message in a hand: the outcome of the one before, restart, act."""
        _, node, view, *_ = self.question()
        carries = ACT | RESTART | (OUTCOME if self.hand else 0)
        # Players change places every hand: who is player 1 now was player 0 then.
        return bytes((carries, node, view)) + self.ended[1 - player]


class Table:
    """Many matches in lockstep; match m owns flat seats 2m and 2m + 1."""

    def __init__(self, deal_seeds: Sequence[int]) -> None:
        self._seats = 2 * len(deal_seeds)
        self._matches = [_Match(seed, 2 * number) for number, seed in enumerate(deal_seeds)]
        self._live = list(range(len(deal_seeds)))
        self._faults: dict[int, tuple[int, int]] = {}
        self._messages = bytearray([IDLE]) * (self._seats * MESSAGE_BYTES)
        for match in self._matches:
            self._tell(match.asked, match.announcement(0))

    def messages(self) -> bytes:
        """MESSAGE_BYTES for each flat seat."""
        return bytes(self._messages)

    def advance(self, replies: bytes) -> None:
        """Takes one reply for each flat seat.

        Raises:
          ValueError: the number of replies is wrong, or every match is over.
        """
        if len(replies) != self._seats:
            raise ValueError(f"{len(replies)} replies for {self._seats} seats")
        if not self._live:
            raise ValueError("every match is over; there is nothing to reply to")
        over = set()
        for number in self._live:
            match = self._matches[number]
            asked = match.asked
            reply = replies[asked]
            node = _NEXT[match.node][reply]
            unusual = node == _NOWHERE or replies[asked ^ 1] != NONE
            if unusual and self._stopped(number, match, replies):
                over.add(number)
                continue
            match.moves.append(reply)
            self._messages[asked * MESSAGE_BYTES] = IDLE
            match.node = node
            if node >= DECISIONS:
                self._end_hand(2 * number, match)
                continue
            match.asked = asked = 2 * number + (_ACTORS[node] ^ match.flip)
            opens = node in _OPENINGS
            self._tell(asked, match.announcement(1) if opens else match.question())
        if over:
            self._live = [number for number in self._live if number not in over]

    @property
    def done(self) -> bool:
        """True once no match goes on."""
        return not self._live

    def moves(self, match: int) -> bytes:
        """The actions so far, in order of play; whose they are follows from deal and betting."""
        return bytes(self._matches[match].moves)

    def fault(self, match: int) -> tuple[int, int] | None:
        """(seat, code) of the forfeit, or None."""
        return self._faults.get(match)

    def _tell(self, flat_seat: int, message: bytes) -> None:
        start = flat_seat * MESSAGE_BYTES
        self._messages[start : start + len(message)] = message

    def _end_hand(self, first_flat_seat: int, match: _Match) -> None:
        deal, end = match.deals[match.hand], match.node
        match.ended = (_ending(deal, end, 0), _ending(deal, end, 1))
        match.hand += 1
        if match.hand == LENGTH:
            for player, told in enumerate(match.ended):
                self._tell(first_flat_seat + (player ^ match.flip), bytes((OUTCOME, 0, 0)) + told)
            return
        match.node = 0
        match.flip ^= 1
        match.asked = first_flat_seat + match.flip
        self._tell(match.asked, match.announcement(0))

    def _stopped(self, number: int, match: _Match, replies: bytes) -> bool:
        """Ends the match if a seat is at fault (of two, seat 0) or the last hand has been told."""
        told_all = match.node >= DECISIONS
        for flat in (2 * number + 1, 2 * number):
            reply = replies[flat]
            if FIRST_FAULT_CODE <= reply <= MALFORMED:
                self._faults[number] = (flat & 1, reply)
            elif flat == match.asked and not told_all and _NEXT[match.node][reply] == _NOWHERE:
                self._faults[number] = (flat & 1, ILLEGAL)
        over = told_all or number in self._faults
        if over:
            self._tell(2 * number, bytes([IDLE]) * (2 * MESSAGE_BYTES))
        return over
