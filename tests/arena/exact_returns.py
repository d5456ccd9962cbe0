"""What tabular policies return a match, exactly: what estimates and best responses are held to."""

from arena.analysis.exact import States, hand_value
from arena.games.parts import InformationStates


def match_value(space: InformationStates, one: States, other: States) -> float:
    """What `one` wins against `other` per match, positions averaged."""
    return space.hands * (hand_value(space, one, other) - hand_value(space, other, one)) / 2
