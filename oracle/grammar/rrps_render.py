"""From a genome of rock-paper-scissors to the text of its program."""

from __future__ import annotations

from collections.abc import Collection

from oracle.grammar import rrps_agent, rrps_parts
from oracle.grammar.kept_lines import kept_lines
from oracle.grammar.rrps import CHOOSER, CONTEXT, Part, RrpsGenome, describe

_AMONG = {(1, 0): '("match",)', (0, 1): '("context",)', (1, 1): "ALL"}
"""Of a chooser: (mine, theirs) -> what it chooses among."""


def render(genome: RrpsGenome, footer: str = "", story: str = "") -> str:
    """The policy as standalone commented Python; equal arguments give equal text.

    Args:
      genome: what to write.
      footer: comment lines to end the file with.
      story: a paragraph for the docstring: how the policy came about.
    """
    has = _has(genome)
    kinds = dict.fromkeys(part.kind for part in genome.parts)
    others = [rrps_parts.PREDICTORS[kind][1] for kind in kinds if kind in rrps_parts.PREDICTORS]
    sections = [rrps_agent.HEADER, _constants(genome), kept_lines(rrps_agent.HISTORY, has)]
    if CONTEXT in kinds:
        sections.append(rrps_parts.CONTEXTS)
    if kinds.keys() & rrps_parts.NEED_LEADER:
        sections.append(rrps_parts.LEADER)
    sections += others
    if CHOOSER in kinds:
        sections.append(rrps_agent.CHOOSERS)
    sections += [_predictor_lists(genome, has), _agent(genome, has, story)]
    return "\n\n\n".join(section.strip() for section in sections) + "\n" + footer


def _has(genome: RrpsGenome) -> set[str]:
    """The words in brackets whose lines a policy keeps."""
    kinds = {part.kind for part in genome.parts}
    has = {
        word
        for word, kind in (("contexts", CONTEXT), ("match", "match"), ("choosers", CHOOSER))
        if kind in kinds
    }
    if kinds & rrps_parts.PREDICTORS.keys():
        has.add("others")
    if CONTEXT in kinds and "match" not in kinds:
        has.add("contexts alone")
    return has


def _constants(genome: RrpsGenome) -> str:
    blend, choice = genome.blend, genome.choice
    return "\n".join(
        (
            f"FIRST_WEIGHT = {blend.first_weight}  # of every predictor in the blend",
            f"RATE = {blend.rate}  # step of the gradient on the weights",
            f"FORGET = {blend.forget}  # smallest step of a predictor's record",
            f"TRUST = {blend.trust}  # share that a first guess is given",
            f"PATIENCE = {blend.patience}  # throws that the first trust counts for",
            f"EDGE = {choice.edge}  # payoff per throw below which the move is random",
            f"FORM_MEMORY = {choice.form_memory}  # fading of the record of wanted replies",
            f"NET = {choice.net}  # loss in that record that makes moves random",
        )
    )


def _predictor_lists(genome: RrpsGenome, has: Collection[str]) -> str:
    """The predictors by sort: all Markov models are counted at once, all choosers score at once."""
    contexts = [part for part in genome.parts if part.kind == CONTEXT]
    choosers = [part for part in genome.parts if part.kind == CHOOSER]
    others = [part for part in genome.parts if part.kind not in {CONTEXT, CHOOSER}]
    lines = []
    if contexts or others:
        lines.append("# Whether it guesses my move (else theirs), my moves, their moves, memory.")
    if contexts:
        lines += _listed("CONTEXTS", contexts)
    if others:
        lines += _listed("PREDICTORS", others)
    if choosers:
        lines.append('ALL = ("match", "context", "other")')
        lines.append("# Whether it guesses my move (else theirs), among what, memory.")
        lines += _listed("CHOOSERS", choosers)
        lines += ["# What the predictors are, for those who choose among them.", "GROUPS = ["]
        if contexts:
            lines.append('    *("context" for _ in CONTEXTS),')
        if others:
            named = '"match" if kind is LongestMatch else "other"' if "match" in has else '"other"'
            lines.append(f"    *({named} for kind, *_ in PREDICTORS),")
        lines.append("]")
    return "\n".join(lines)


def _listed(title: str, parts: list[Part]) -> list[str]:
    return [
        f"{title} = [",
        *(f"    ({_settings(part)}),  # {describe(part)}" for part in parts),
        "]",
    ]


def _settings(part: Part) -> str:
    of_me = part.target == "mine"
    if part.kind == CHOOSER:
        return f"{of_me}, {_AMONG[part.mine, part.theirs]}, {part.memory}"
    name = "" if part.kind == CONTEXT else f"{rrps_parts.PREDICTORS[part.kind][0]}, "
    return f"{name}{of_me}, {part.mine}, {part.theirs}, {part.memory}"


def _agent(genome: RrpsGenome, has: Collection[str], story: str) -> str:
    doc = f'class Agent:\n    """{_doc(genome)}{story}    """\n'
    return doc + kept_lines(rrps_agent.AGENT_BODY, has).rstrip("\n")


def _doc(genome: RrpsGenome) -> str:
    count, edge = len(genome.parts), genome.choice.edge
    theirs = sum(part.target == "theirs" for part in genome.parts)
    if count == 1:
        return f"""Learns one habit of its opponent and plays the best reply.

    Made by a grammar, not written by a person or a language model.

    Its one predictor guesses {describe(genome.parts[0])}.
    It learns how the opponent's move relates to the guess (the same, one ahead, two ahead).  The
    reply that pays best is played while it promises at least {edge} a throw and such replies
    have not been losing lately, else a random move, which nobody can exploit.
"""
    return f"""Blends {count} sequence predictors into one forecast and plays the best reply.

    Made by a grammar, not written by a person or a language model.

    {theirs} predictors guess the opponent's next move and {count - theirs} guess mine, as an
    opponent's predictor would.  For each the agent learns how the opponent's move relates to the
    guess, so that repeating, being one step ahead and being two steps ahead are all seen.  A
    weighted blend of what they say gives a forecast; the reply that pays best is played while it
    promises at least {edge} a throw and such replies have not been losing lately, else a
    random move, which nobody can exploit.
"""
