"""Repeated Leduc hold'em as numbers, for networks.

An observation is the hand that goes on as OpenSpiel's `information_state_tensor()` of
`leduc_poker(suit_isomorphism=true)` has it (policies see ranks): who the player is, his card, the
public card, and the calls and raises of both rounds.  The first decision in a hand sees the hand
before as well, in the same form, with the other player's card where it was shown and the chips won;
in between, all that is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.games.leduc import table as t
from arena.games.parts import Learning, Tensors

_SLOTS = 4
"""Actions that the engine's tensor keeps of each round of betting."""
_CHIPS = 16.0
"""A hand costs 13 at most."""
_SHOWN = len(t.RANKS) + 1
_NODE = {name: number for number, name in enumerate(t.RANKS)}
_ACTION = {name: number for number, name in enumerate(t.ACTIONS)}

LEARNING = Learning(
    learning_rate=0.001,
    hidden=(512, 256),
    unroll=40,
    entropy_cost=0.01,
    batch=64,
    max_gradient_norm=40.0,
)
"""The CSRO paper's PSRO-IMPALA in this game: "Hyperparameter for repeated Leduc hold'em poker"."""


def _bets(node: t.Node) -> npt.NDArray[np.float64]:
    """(16,): call or raise in each slot of each round; a fold is neither, as in the engine."""
    slots = np.zeros((2, _SLOTS, 2))
    for number, actions in enumerate(node.rounds):
        for at, action in enumerate(actions):
            if action != t.FOLD:
                slots[number, at, action - t.CALL] = 1.0
    return slots.reshape(-1)


def _one_hot(size: int, hidden: int) -> npt.NDArray[np.float64]:
    """Rows of an identity, and of zeros from `hidden` on."""
    return np.vstack([np.eye(size)[:hidden], np.zeros((256 - hidden, size))])


_BETS = np.array([_bets(node) for node in t.NODES])
_RANK = _one_hot(len(t.RANKS), len(t.RANKS))
_PLAYER = np.eye(2)
_HAND = 2 + 2 * len(t.RANKS) + _BETS.shape[1]
_SIZE = _HAND + 1 + _HAND + len(t.RANKS) + 1
_LEGAL = np.array(
    [[a in node.legal for a in range(len(t.ACTIONS))] for node in t.NODES], dtype=np.bool_
)
_NEXT = np.array(
    [
        [
            t.NODE_AFTER[t.line_after(node, action)] if action in node.legal else 0
            for action in range(len(t.ACTIONS))
        ]
        for node in t.NODES
    ]
)
_ACTOR = np.array([-1 if node.actor is None else node.actor for node in t.NODES])
_OPENS = np.isin(np.arange(len(t.NODES)), [_NEXT[0][action] for action in t.NODES[0].legal])
_FOLDED = np.array([node.folded is not None for node in t.NODES])


def _won(end: int, ranks: tuple[int, int], public: int) -> int:
    """Chips that player 0 won in a hand that ended there; 0 for a decision."""
    node = t.NODES[end]
    return t.hand_returns(node, ranks, public)[0] if node.actor is None else 0


_RANKS = range(len(t.RANKS))
_WON = np.array(
    [
        [[[_won(end, (a, b), c) for c in _RANKS] for b in _RANKS] for a in _RANKS]
        for end in range(len(t.NODES))
    ],
    dtype=np.float64,
)
"""[end, rank of player 0, of player 1, public rank]."""
_CARDS = np.array([[t.rank_of(card) for card in deal] for deal in t.DEALS])
_PUBLIC = np.array([node.public for node in t.NODES])


def _hand(nodes: npt.NDArray[Any], views: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Nodes and views (n,) to (n, 24): one hand as one player sees it."""
    return np.hstack(
        [_PLAYER[views >> 4 & 1], _RANK[views >> 2 & 3], _RANK[views & 3], _BETS[nodes]]
    )


def asks(messages: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Messages (n, 6) to (n,); the last one of a match tells an outcome and asks for nothing."""
    carries = messages[:, 0]
    asked: npt.NDArray[np.bool_] = (carries != t.IDLE) & ((carries & t.ACT) > 0)
    return asked


def see(messages: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Messages (n, 6) that ask for an action to observations (n, 53)."""
    carries, node, view, end, end_view, shown = messages.T
    told = (carries & t.OUTCOME) > 0
    player, own, public = end_view >> 4 & 1, end_view >> 2 & 3, end_view & 3
    # What a hand that ended in a fold was worth does not depend on the cards.
    other, open_card = (
        np.where(shown == t.HIDDEN, 0, shown),
        np.where(public == t.HIDDEN, 0, public),
    )
    first, second = np.where(player == 0, own, other), np.where(player == 0, other, own)
    won = np.where(player == 0, 1.0, -1.0) * _WON[end, first, second, open_card] / _CHIPS
    before = np.hstack([_hand(end, end_view), _RANK[shown], won[:, None]])
    return np.hstack([_hand(node, view), told[:, None], np.where(told[:, None], before, 0.0)])


def legal(messages: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """(n, 3): the actions that are legal at the decision of each message."""
    return _LEGAL[messages[:, 1]]


def _node(obs: Mapping[str, Any]) -> int:
    history = obs["action_history"]
    before, after = (
        tuple(_ACTION[event["action"]] for event in history[name])
        for name in ("PREFLOP", "POSTFLOP")
    )
    return t.NODE_AFTER[before, after]


def _view(obs: Mapping[str, Any]) -> int:
    public = obs["public_state"]["public_card"]
    shown = t.HIDDEN if public is None else _NODE[public]
    player = obs["player_view"]
    own: int = player["player_id"] << 4 | _NODE[player["hand"]] << 2
    return own | shown


class Author:
    """An author's class that answers by a function of messages."""

    def __init__(self, reply: Callable[[bytes], int]) -> None:
        self._reply = reply
        self._before = bytes(3)
        self._carries = 0

    def restart(self, player_id: int) -> None:
        """A new hand begins."""
        self._carries |= t.RESTART

    def receive_outcome(self, obs: Mapping[str, Any]) -> None:
        """A hand is over; the next decision sees it."""
        hands = obs["game_result"]["showdown_hands"] or ()
        other = 1 - obs["player_view"]["player_id"]
        shown = [_NODE[one["hand"]] for one in hands if one["player_id"] == other]
        self._before = bytes((_node(obs), _view(obs), shown[0] if shown else t.HIDDEN))
        self._carries |= t.OUTCOME

    def act(self, obs: Mapping[str, Any]) -> str:
        """The next action."""
        before = self._before if self._carries else bytes(3)
        message = bytes((t.ACT | self._carries, _node(obs), _view(obs))) + before
        self._carries = 0
        return t.ACTIONS[self._reply(message)]


class Hands:
    """Matches as arrays; a `arena.games.parts.Field`.

    Attributes:
      messages: see `Field`; a match that is over says nothing, not even how its last hand ended.
      over: see `Field`.
    """

    def __init__(self, matches: int) -> None:
        self.messages = np.full((matches, 2, t.MESSAGE_BYTES), 0, dtype=np.uint8)
        self.messages[:, :, 0] = t.IDLE
        self.over = np.ones(matches, dtype=np.bool_)
        self._deals = np.zeros((matches, t.LENGTH), dtype=np.intp)
        self._hand = np.zeros(matches, dtype=np.intp)
        self._node = np.zeros(matches, dtype=np.intp)
        self._flip = np.zeros(matches, dtype=np.intp)
        self._ended = np.zeros((matches, 2, 3), dtype=np.uint8)
        """By seat: the last three bytes of what it is told of the hand before."""

    def begin(self, matches: npt.NDArray[np.intp], deal_seeds: Sequence[int]) -> None:
        """See `Field`."""
        for match, seed in zip(matches, deal_seeds, strict=True):
            self._flip[match], self._deals[match] = t.dealt(seed)
        self._hand[matches] = self._node[matches] = 0
        self._ended[matches] = 0
        self.over[matches] = False
        self._ask(matches)

    def advance(
        self, matches: npt.NDArray[np.intp], replies: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.float64]:
        """See `Field`."""
        asked = _ACTOR[self._node[matches]] ^ self._flip[matches]
        node = _NEXT[self._node[matches], replies[np.arange(len(matches)), asked]]
        self._node[matches] = node
        won = np.zeros(len(matches))
        ending = _ACTOR[node] < 0
        if ending.any():
            won[ending] = self._end(matches[ending])
        self._ask(matches[~self.over[matches]])
        return won

    def _end(self, matches: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Ends the hands of these matches, begins the next; what seat 0 won."""
        end, flip = self._node[matches], self._flip[matches]
        cards = _CARDS[self._deals[matches, self._hand[matches]]]
        for player in (0, 1):
            seat = player ^ flip
            self._ended[matches, seat, 0] = end
            self._ended[matches, seat, 1] = _views(cards, end, player)
            shown = np.where(_FOLDED[end], t.HIDDEN, cards[:, 1 - player])
            self._ended[matches, seat, 2] = shown
        chips = _WON[end, cards[:, 0], cards[:, 1], cards[:, 2]]
        won: npt.NDArray[np.float64] = np.where(flip == 0, chips, -chips)
        self._hand[matches] += 1
        self._node[matches] = 0
        self._flip[matches] ^= 1
        last = matches[self._hand[matches] == t.LENGTH]
        self.over[last] = True
        self.messages[last, :, 0] = t.IDLE
        return won

    def _ask(self, matches: npt.NDArray[np.intp]) -> None:
        """Writes the messages that ask for the next decisions."""
        node = self._node[matches]
        actor, hand = _ACTOR[node], self._hand[matches]
        seat = actor ^ self._flip[matches]
        opens = (node == 0) | _OPENS[node]
        self.messages[matches, 1 - seat, 0] = t.IDLE
        message = np.zeros((len(matches), t.MESSAGE_BYTES), dtype=np.uint8)
        message[:, 0] = t.ACT | np.where(opens, t.RESTART | np.where(hand > 0, t.OUTCOME, 0), 0)
        message[:, 1] = node
        cards = _CARDS[self._deals[matches, hand]]
        message[:, 2] = np.where(actor == 0, _views(cards, node, 0), _views(cards, node, 1))
        message[:, 3:] = np.where(opens[:, None], self._ended[matches, seat], 0)
        self.messages[matches, seat] = message


def _views(cards: npt.NDArray[Any], node: npt.NDArray[Any], player: int) -> npt.NDArray[Any]:
    """The table's one byte of what a player knows of each hand: player, own rank, public one."""
    public = np.where(_PUBLIC[node], cards[:, 2], t.HIDDEN)
    return player << 4 | cards[:, player] << 2 | public


TENSORS = Tensors(
    version="leduc-1",
    size=_SIZE,
    asks=asks,
    see=see,
    legal=legal,
    author=Author,
    field=Hands,
    learning=LEARNING,
)
"""The game as numbers."""
