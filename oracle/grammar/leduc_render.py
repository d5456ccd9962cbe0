"""From a genome of Leduc hold'em to the text of its program."""

from __future__ import annotations

from oracle.grammar import balance, leduc_agent, leduc_crowd, leduc_parts, leduc_strangers
from oracle.grammar.kept_lines import kept_lines
from oracle.grammar.leduc import LeducGenome, describe
from oracle.grammar.story import counted


def render(genome: LeducGenome, footer: str = "", story: str = "") -> str:
    """The policy as standalone commented Python; equal arguments give equal text.

    Args:
      genome: what to write.
      footer: comment lines to end the file with.
      story: a paragraph for the docstring: how the policy came about.
    """
    has = {style.kind for style in genome.styles}
    live = has & {"crowd", "learned"}
    moving = live | has & {"strangers"}
    sections = [
        kept_lines(leduc_parts.HEADER, has),
        _constants(genome),
        _balanced_table(),
        leduc_parts.TREE,
    ]
    sections.append(kept_lines(leduc_parts.STYLES, has))
    if moving:
        sections.append(leduc_crowd.SPOTS)
        has.add("moving")
    if live:
        has.add("live")
        if "crowd" not in has:
            sections.append(leduc_crowd.UNCROWDED)
            has.add("uncrowded")
    if "crowd" in has:
        sections.append(leduc_crowd.CROWD)
    if "strangers" in has:
        sections.append(leduc_strangers.STRANGERS)
    if "learned" in has:
        sections.append(leduc_agent.LEARNED)
    sections.append(_doc(genome, story) + kept_lines(leduc_agent.BOT_BODY, has))
    return "\n\n\n".join(section.strip() for section in sections) + "\n" + footer


def _constants(genome: LeducGenome) -> str:
    lines = ["# Kind, fold, bet, weight before the first hand: who may sit there.", "STYLES = ["]
    for style in genome.styles:
        row = (style.kind, style.fold, style.bet, style.prior)
        lines.append(f"    {row!r},  # {describe(style)}".replace("'", '"'))
    lines += [
        "]",
        f"CAUTION = {genome.caution}  # chips that a reply must gain over balanced play",
        f"CHANGE = {genome.change}  # chance per hand that the opponent becomes somebody else",
    ]
    if any(style.kind == "learned" for style in genome.styles):
        lines.append(f"POOL = {genome.pool}  # how much the learnt style shares between hands")
    return "\n".join(lines)


def _balanced_table() -> str:
    lines = [
        "# Balanced play, solved from the rules of one hand: call and raise per 1000 (the rest is",
        "# fold) after a line of betting with a card; one pair per public card J, Q, K.",
        "BALANCED = {",
    ]
    for line, by_rank in balance.stored_rows().items():
        for name, row in zip("JQK", by_rank, strict=True):
            lines.append(f'    ("{line}", {name}): {row!r},')
    return "\n".join((*lines, "}"))


def _doc(genome: LeducGenome, story: str) -> str:
    known = counted(len(genome.styles), "style")
    opening, played = _moves(genome.caution)
    return f'''class RepeatedLeducPokerBot:
    """{opening}

    Made by a grammar, not written by a person or a language model.

    It knows {known} (see STYLES).  After each hand it weighs them by how well
    they explain what the opponent did; an unseen card counts by its chances.  To act it looks
    ahead through the rest of the hand against the weighted styles.  {played}
{story}    """
'''


def _moves(caution: float) -> tuple[str, str]:
    """The first line of what a program says of itself, and how it chooses a move."""
    opening = "Guesses the opponent's style and plays the best reply to it"
    if caution == 0.0:
        played = """The best letter
    is played, however little it gains; nothing holds it to balanced play, so whoever
    sees through it can exploit it."""
        return f"{opening}.", played
    played = f"""If the best letter is worth
    at least {caution} chips more than balanced play, it is played; else the move is drawn
    from balanced play, which cannot be exploited."""
    return f"{opening}, else balanced play.", played
