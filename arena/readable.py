"""What people are shown of a policy's content: source as it is, weights by what they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from arena.games import game as game_named
from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import described
from registry.values import PolicyVersion


def readable(version: PolicyVersion) -> str:
    """A version's content as text: a program's source, JSON with line breaks, a network's facts."""
    if version.kind == NEURAL:
        return _network(version)
    if version.kind == "python":
        return version.payload
    try:
        return json.dumps(json.loads(version.payload), indent=1)
    except ValueError:
        return version.payload


def _network(version: PolicyVersion) -> str:
    """Architecture, and what is registered of the training, where it was one of ours."""
    told = version.provenance
    lines = [f"A network: {described(game_named(version.game), version.payload)}."]
    lines.append(f"{len(version.payload):,} characters of weights; it has no source to read.")
    settings = told.get("training")
    if isinstance(settings, Mapping):
        lines += ["", f"Trained for {told.get('decisions', 0):,} decisions with"]
        lines += [f"  {name} {value}" for name, value in sorted(settings.items())]
    points = told.get("returns")
    if isinstance(points, Sequence) and not isinstance(points, str):
        lines += ["", "Mean return against the mixture while it learned, with its standard error:"]
        lines += [_point(point) for point in points]
    return "\n".join(lines) + "\n"


def _point(point: Any) -> str:
    decisions, mean, error, matches = point
    spread = "" if error is None else f" ± {error:.1f}"
    noun = "match" if matches == 1 else "matches"
    return f"{decisions:>12,} decisions  {mean:+8.1f}{spread}  ({matches:,} {noun})"
