"""From a genome of rock-paper-scissors to the text of its program."""

from __future__ import annotations

from collections.abc import Collection

from oracle.grammar import rrps_agent, rrps_parts
from oracle.grammar.kept_lines import kept_lines
from oracle.grammar.rrps import (
    CHOOSER,
    CONTEXT,
    ECHO,
    MATCH,
    RESULT,
    Choice,
    Part,
    RrpsGenome,
    describe,
)
from oracle.grammar.story import counted

_AMONG = {(1, 0): '("match",)', (0, 1): '("context",)', (1, 1): "ALL"}
"""Of a chooser: (mine, theirs) -> what it chooses among."""
_LISTS = (
    ("CONTEXTS", CONTEXT, "context"),
    ("RESULTS", RESULT, "other"),
    ("MATCHES", MATCH, "match"),
    ("ECHOES", ECHO, "other"),
)
"""Of parts that work all at once: title of their list, kind, and what a chooser calls them."""


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
    sections = [
        kept_lines(rrps_agent.HEADER, has),
        _constants(genome, has),
        kept_lines(rrps_agent.HISTORY, has),
    ]
    for word, text in (
        ("contexts", rrps_parts.CONTEXTS),
        ("matches", rrps_parts.MATCHES),
        ("echoes", rrps_parts.ECHOES),
    ):
        if word in has:
            sections.append(kept_lines(text, has))
    sections += others
    if "choosers" in has:
        sections.append(rrps_agent.CHOOSERS)
    sections += [_predictor_lists(genome, has), _agent(genome, has, story)]
    return "\n\n\n".join(section.strip() for section in sections) + "\n" + footer


def _has(genome: RrpsGenome) -> set[str]:
    """The words in brackets whose lines a policy keeps."""
    kinds = {part.kind for part in genome.parts}
    has = {title.lower() for title, kind, _ in _LISTS if kind in kinds}
    if "results" in has:
        has.add("contexts")
    elif "contexts" in has:
        has.add("plain")  # contexts without results
    if has & {"contexts", "matches"}:
        has.add("number")
    if CHOOSER in kinds:
        has.add("choosers")
    if kinds & rrps_parts.PREDICTORS.keys():
        has.add("others")
    has.add(str(genome.blend.views))
    has.add("pace" if genome.blend.spread == 1.0 else "paces")
    return has | _gates(genome.choice)


def _gates(choice: Choice) -> set[str]:
    """The words for what can make a move random after the first throw.

    Some reply promises 0 or more: the three payoffs sum to 0.  The record of the wanted replies
    changes by at most 1 a throw and fades, so it never gets beyond 1 / (1 - form_memory).
    """
    edge = choice.edge > 0.0
    if choice.net * (1.0 - choice.form_memory) <= 1.0:
        return {"gate", "net", "both" if edge else "net alone"}
    return {"no net", "gate", "edge alone"} if edge else {"no net", "sure"}


def _constants(genome: RrpsGenome, has: set[str]) -> str:
    blend, choice = genome.blend, genome.choice
    rates = [f"RATE = {blend.rate}  # step of the gradient on the weights"]
    if blend.spread != 1.0:
        paces = (blend.rate / blend.spread, blend.rate, blend.rate * blend.spread)
        listed = ", ".join(f"{pace:.3g}" for pace in paces)
        rates = [
            f"RATES = np.array(({listed}))  # steps of the gradient, for each set of weights",
            "FADING = 0.98  # of how well each set of weights has foretold",
        ]
    if blend.views != 1:
        rates.append("RECORDS = 1 + 3 * STEPS + 9  # of each predictor")
    gates = []
    if has & {"both", "edge alone"}:
        gates.append(f"EDGE = {choice.edge}  # payoff per throw below which the move is random")
    if "net" in has:
        gates += [
            f"FORM_MEMORY = {choice.form_memory}  # fading of the record of wanted replies",
            f"NET = {choice.net}  # loss in that record that makes moves random",
        ]
    return "\n".join(
        (
            f"FIRST_WEIGHT = {blend.first_weight}  # of every predictor in the blend",
            *rates,
            f"FORGET = {blend.forget}  # smallest step of a predictor's record",
            f"TRUST = {blend.trust}  # share that a first guess is given",
            f"PATIENCE = {blend.patience}  # throws that the first trust counts for",
            *gates,
        )
    )


def _predictor_lists(genome: RrpsGenome, has: Collection[str]) -> str:
    """The predictors by sort."""
    lists = {
        title: ([part for part in genome.parts if part.kind == kind], group)
        for title, kind, group in _LISTS
        if title.lower() in has
    }
    if "others" in has:
        others = [part for part in genome.parts if part.kind in rrps_parts.PREDICTORS]
        lists["PREDICTORS"] = (others, "other")
    lines = ["# Whether it guesses my move (else theirs), my moves, their moves, memory."]
    for title, (parts, _) in lists.items():
        lines += _listed(title, parts)
    if "choosers" in has:
        lines += ['ALL = ("match", "context", "other")', "# The same, and what it chooses among."]
        lines += _listed("CHOOSERS", [part for part in genome.parts if part.kind == CHOOSER])
        lines += ["# What the predictors are, for those who choose among them.", "GROUPS = ["]
        lines += [f'    *("{group}" for _ in {title}),' for title, (_, group) in lists.items()]
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
    own = rrps_parts.PREDICTORS.get(part.kind)
    name = f"{own[0]}, " if own else ""
    return f"{name}{of_me}, {part.mine}, {part.theirs}, {part.memory}"


def _agent(genome: RrpsGenome, has: set[str], story: str) -> str:
    doc = f'class Agent:\n    """{_doc(genome, has)}{story}    """\n'
    return doc + kept_lines(rrps_agent.AGENT_BODY, has).rstrip("\n")


def _doc(genome: RrpsGenome, has: set[str]) -> str:
    count = len(genome.parts)
    (gate,) = has & _PLAYED.keys()
    played = (_PLAYED_ALONE if count == 1 else _PLAYED)[gate].format(edge=genome.choice.edge)
    if count == 1:
        return f"""Learns one habit of its opponent and plays the best reply.

    Made by a grammar, not written by a person or a language model.

    Its one predictor guesses {describe(genome.parts[0])}.
    It learns how the opponent's move relates to the guess (the same, one ahead, two ahead).  The
    {played.strip()}
"""
    return f"""Blends {count} sequence predictors into one forecast and plays the best reply.

    Made by a grammar, not written by a person or a language model.

    {_guessing(genome)}, as an
    opponent's predictor would.  For each the agent learns how the opponent's move relates to the
    guess, so that repeating, being one step ahead and being two steps ahead are all seen.  A
    weighted blend of what they say gives a forecast; {played.strip()}
"""


def _guessing(genome: RrpsGenome) -> str:
    """How many predictors guess whose move."""
    theirs = sum(part.target == "theirs" for part in genome.parts)
    mine = len(genome.parts) - theirs
    verbs = ["guesses" if number == 1 else "guess" for number in (theirs, mine)]
    return (
        f"{counted(theirs, 'predictor')} {verbs[0]} the opponent's next move "
        f"and {mine} {verbs[1]} mine"
    )


_PLAYED_ALONE = {
    "both": """
    reply that pays best is played while it promises at least {edge} a throw and such replies
    have not been losing lately, else a random move, which nobody can exploit.
""",
    "edge alone": """
    reply that pays best is played while it promises at least {edge} a throw, else a random move,
    which nobody can exploit.
""",
    "net alone": """
    reply that pays best is played while such replies have not been losing lately, else a random
    move, which nobody can exploit.
""",
    "sure": """
    reply that pays best is played in every throw but the first, whatever it promises and however
    badly such replies have gone.
""",
}
"""What can make a move random -> how the docstring of a program of one predictor says so."""
_PLAYED = {
    "both": """
    the reply that pays best is played while it
    promises at least {edge} a throw and such replies have not been losing lately, else a
    random move, which nobody can exploit.
""",
    "edge alone": """
    the reply that pays best is played while it
    promises at least {edge} a throw, else a random move, which nobody can exploit.
""",
    "net alone": """
    the reply that pays best is played while
    such replies have not been losing lately, else a random move, which nobody can exploit.
""",
    "sure": """
    the reply that pays best is played in
    every throw but the first, whatever it promises and however badly such replies have gone.
""",
}
"""The same where predictors are blended."""
