"""The table of repeated Kuhn poker: many matches of 100 hands, each at its own pace.

Standard library only and no import from this project: a sandbox runs this very file inside its
box, next to the sealed policies.

A hand is a walk through a betting tree of 4 decisions and 5 ends (`NODES`).  A message names
places in that tree and ranks of cards, never more than its receiver may know, in 6 bytes:

    0  what it carries: OUTCOME + RESTART + ACT, or IDLE
    1  ACT: the decision's node
    2  the receiver's view of the hand that goes on: player and own rank (`_view`)
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
ACTIONS = ("PASS", "BET")
"""In the engine's order; an action's number is its index."""
PASS, BET = range(2)

IDLE = 254
"""First byte of a message that asks for nothing."""
NONE = 253
"""Reply to a message that asks for no action."""
MALFORMED = 252
"""The policy answered with something that is not exactly a `str`."""
ILLEGAL = 251
"""The policy answered with a string that is no action."""
RAISED = 250
"""The policy raised; the caller puts this in, `Seat.reply` lets the exception pass."""
FIRST_FAULT_CODE = 240
"""240 to 249 are fault codes that only the caller gives a meaning."""
ACT, RESTART, OUTCOME = 1, 2, 4

RANKS = ("J", "Q", "K")
HIDDEN = 3
"""Stands for a rank that the receiver may not know."""
DEALS = tuple(itertools.permutations(range(len(RANKS)), 2))
"""Every deal of ranks: player 0's and player 1's."""

ANTE, BET_CHIPS = 1, 1
"""Chips that a player pays for his card, and that a bet costs."""
_NOWHERE = 255


class Node(NamedTuple):
    """A place in the betting of one hand.

    Attributes:
      line: the actions so far; players take turns, and player 0 begins.
      actor: the player to act, or None where the hand is over.
      paid: chips that players 0 and 1 have put into the pot.
      folded: the player who passed when facing a bet, or None.
    """

    line: tuple[int, ...]
    actor: int | None
    paid: tuple[int, int]
    folded: int | None


def _node(line: tuple[int, ...]) -> Node:
    """Follows the betting from the antes on."""
    paid = [ANTE, ANTE]
    for at, action in enumerate(line):
        if action == BET:
            paid[at & 1] += BET_CHIPS
    bets = line.count(BET)
    # Two passes or two bets end it, and so does a pass after a bet.
    over = len(line) > 1 and (line[-1] == PASS or bets == 2)
    folded = (len(line) - 1) & 1 if over and bets == 1 else None
    actor = None if over else len(line) & 1
    return Node(line, actor, (paid[0], paid[1]), folded)


def _betting_tree() -> tuple[Node, ...]:
    """All nodes, decisions first, short lines before long ones."""
    found = [_node(())]
    for node in found:
        if node.actor is not None:
            found.extend(_node((*node.line, action)) for action in (PASS, BET))
    found.sort(key=lambda node: (node.actor is None, len(node.line), node.line))
    return tuple(found)


NODES = _betting_tree()
"""The betting tree of one hand."""
DECISIONS = sum(node.actor is not None for node in NODES)
"""So many of the nodes, the first ones, are decisions; the others are ends."""
NODE_AFTER = {node.line: number for number, node in enumerate(NODES)}
"""The actions of a hand to the node that they lead to."""

_NEXT = tuple(
    bytes(NODE_AFTER.get((*node.line, reply), _NOWHERE) for reply in range(256)) for node in NODES
)
"""`_NEXT[node][reply]` is a node, or 255 where the reply is no action."""


def _view(deal: int, player: int) -> int:
    """One byte: who the player is, and his rank in the low bits."""
    return player << 2 | DEALS[deal][player]


def _ending(deal: int, end: int, player: int) -> bytes:
    """Bytes 3 to 5 of a message about that end of that deal, to that player."""
    shown = DEALS[deal][1 - player] if NODES[end].folded is None else HIDDEN
    return bytes((end, _view(deal, player), shown))


def dealt(deal_seed: int) -> tuple[int, tuple[int, ...]]:
    """Everything that chance decides in a match, fixed before its first action.

    Returns:
      the seat of player 0 in the first hand (they change places every hand), and for each hand
      an index into `DEALS`.
    """
    # Only `random()` is promised to give the same numbers in every version of Python.
    uniform = random.Random(deal_seed).random
    return int(uniform() * 2), tuple(int(uniform() * len(DEALS)) for _ in range(LENGTH))


def hand_returns(node: Node, ranks: tuple[int, int]) -> tuple[int, int]:
    """What players 0 and 1, with cards of these ranks, win in a hand that ended there."""
    loser = node.folded if node.folded is not None else int(ranks[1] < ranks[0])
    won = node.paid[loser]
    return (-won, won) if loser == 0 else (won, -won)


def _seen(number: int, view: int) -> dict[str, Any]:
    """What a player sees of a hand, apart from its result; made anew each time."""
    line, actor, paid, _ = NODES[number]
    return {
        "player_view": {
            "player_id": view >> 2,
            "hand": RANKS[view & 3],
            "legal_actions": [*ACTIONS] if actor is not None else [],
        },
        "public_state": {"paid": [*paid], "pot_size": sum(paid)},
        "action_history": [
            {"player_id": at & 1, "action": ACTIONS[action]} for at, action in enumerate(line)
        ],
        "game_result": None,
    }


def _outcome(number: int, view: int, shown: int) -> dict[str, Any]:
    """What a player sees of a hand that is over; `shown` is the other's rank, or HIDDEN."""
    seen, node = _seen(number, view), NODES[number]
    player, own = view >> 2, view & 3
    ranks = (own, shown) if player == 0 else (shown, own)
    hands = None
    if node.folded is None:
        hands = [{"player_id": who, "hand": RANKS[rank]} for who, rank in enumerate(ranks)]
    seen["game_result"] = {
        "outcome": "SHOWDOWN" if hands else "FOLD",
        "returns": [*hand_returns(node, ranks)],
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
        seen, outcome = _seen, _outcome
        idle, none, illegal, malformed = IDLE, NONE, ILLEGAL, MALFORMED

        def reply(message: bytes) -> int:
            carries, node, view, end, end_view, shown = message
            if carries == idle:
                return none
            if carries & OUTCOME:
                receive_outcome(outcome(end, end_view, shown))
            if carries & RESTART:
                restart(view >> 2)
            if not carries & ACT:
                return none
            answer = act(seen(node, view))
            if type_of(answer) is not text:  # a subclass of str could lie about equality
                return malformed
            return number_of(answer, illegal)

        self.reply = reply


class _Match:
    """Where one match stands.

    Attributes:
      hand: number of the hand that goes on, from 0; `flip` is the seat of player 0 in it.
      node: its decision; an end once the last hand is over and its outcome is being told.
      ended: of the hand before: the last three bytes of what players 0 and 1 are told.
      moves: all actions so far.
    """

    __slots__ = ("deals", "ended", "flip", "hand", "moves", "node")

    def __init__(self, deal_seed: int) -> None:
        self.flip, self.deals = dealt(deal_seed)
        self.hand = self.node = 0
        self.ended = (bytes(3), bytes(3))
        self.moves = bytearray()

    def asked(self) -> int | None:
        """The seat that decides; None once the last hand is over."""
        actor = NODES[self.node].actor
        return None if actor is None else actor ^ self.flip

    def question(self) -> bytes:
        """The message to the player to act."""
        line, actor, _, _ = NODES[self.node]
        player = actor or 0
        carries, told = ACT, bytes(3)
        if len(line) < 2:  # his first decision in this hand
            carries |= RESTART | (OUTCOME if self.hand else 0)
            # Players change places every hand: who is player 1 now was player 0 then.
            told = self.ended[1 - player]
        return bytes((carries, self.node, _view(self.deals[self.hand], player))) + told


class Table:
    """Many matches in lockstep; match m owns flat seats 2m and 2m + 1."""

    def __init__(self, deal_seeds: Sequence[int]) -> None:
        self._seats = 2 * len(deal_seeds)
        self._matches = [_Match(seed) for seed in deal_seeds]
        self._live = list(range(len(deal_seeds)))
        self._faults: dict[int, tuple[int, int]] = {}
        self._messages = bytearray([IDLE]) * (self._seats * MESSAGE_BYTES)
        for number, match in enumerate(self._matches):
            self._tell(2 * number + match.flip, match.question())

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
        self._live = [
            number
            for number in self._live
            if self._goes_on(number, replies[2 * number : 2 * number + 2])
        ]

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
        self._messages[start : start + MESSAGE_BYTES] = message

    def _goes_on(self, number: int, replies: bytes) -> bool:
        """Plays one tick of a match; whether there is another."""
        match = self._matches[number]
        for seat in (0, 1):
            self._tell(2 * number + seat, bytes([IDLE]) * MESSAGE_BYTES)
        asked = match.asked()
        for seat, reply in enumerate(replies):
            faulty = FIRST_FAULT_CODE <= reply <= MALFORMED
            if not faulty and seat == asked and _NEXT[match.node][reply] == _NOWHERE:
                faulty, reply = True, ILLEGAL
            if faulty:
                self._faults[number] = (seat, reply)
                return False
        if asked is None:
            return False
        match.moves.append(replies[asked])
        match.node = _NEXT[match.node][replies[asked]]
        if match.node >= DECISIONS:
            self._end_hand(number, match)
        else:
            self._tell(2 * number + (1 - asked), match.question())
        return True

    def _end_hand(self, number: int, match: _Match) -> None:
        deal, end = match.deals[match.hand], match.node
        match.ended = (_ending(deal, end, 0), _ending(deal, end, 1))
        match.hand += 1
        if match.hand == LENGTH:
            for player, told in enumerate(match.ended):
                self._tell(2 * number + (player ^ match.flip), bytes((OUTCOME, 0, 0)) + told)
            return
        match.node = 0
        match.flip ^= 1
        self._tell(2 * number + match.flip, match.question())
