"""Every command that a document shows exists, with its options."""

from __future__ import annotations

import re

import click
import pytest

from arena.cli import main as arena
from dashboards.__main__ import main as dashboard
from population.cli import main as csro
from tests.documentation.pages import PAGES, README, ROOT, shell_commands

PROGRAMS = {"arena": arena, "csro": csro}
DOCUMENTS = [README, *PAGES]
OTHERS = {
    ".",
    "curl",
    "docker",
    "export",
    "make",
    "ollama",
    "pip",
    "printf",
    "pytest",
    "python",
    "python3",
    "ray",
    "sh",
    "(printf",
}
"""What the documents run besides: of these, only the files that they name are looked at."""


def found(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that some words mean, and the words that are left for it."""
    command, rest = PROGRAMS[words[0]], words[1:]
    if words[:2] == ["arena", "dashboard"]:
        return dashboard, words[2:]
    while isinstance(command, click.Group) and rest:
        inner = command.commands.get(rest[0])
        assert inner is not None, f"no command {' '.join(words)}"
        command, rest = inner, rest[1:]
    return command, rest


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_shell_blocks_show_is_understood(page):
    for words in shell_commands(page):
        if words[0] in PROGRAMS:
            # NAME is the game of whoever reads how to add one.
            command, rest = found(["leduc" if word == "NAME" else word for word in words])
            if "--help" not in rest:
                command.make_context(" ".join(words), rest)
        else:
            named = next(word for word in words if not re.match(r"[A-Z_]+=", word))
            assert named.rpartition("/")[2] in OTHERS, words
            for word in words[1:]:
                if word.endswith((".py", ".sh")):
                    assert (ROOT / word).is_file(), words


def test_the_shell_blocks_are_seen():
    """The test above would also pass if it saw nothing."""
    seen = [words for page in DOCUMENTS for words in shell_commands(page)]
    assert ["arena", "doctor"] in seen and ["csro", "list"] in seen
    assert len(seen) > 60


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_in_sentences_exist(page):
    for span in re.findall(r"`((?:arena|csro) [^`\n]+)`", page.read_text(encoding="utf-8")):
        words = span.replace("[", " ").replace("]", " ").replace("...", " ").split()
        if words[1] == "COMMAND":  # any of them
            continue
        bare = [word for word in words if not word.startswith("-")]
        command, _ = found(bare)
        known = {name for one in command.params for name in one.opts}
        options = {word for word in words if word.startswith("--")} - {"--help"}
        assert options <= known, span


def test_a_command_or_option_that_is_not_there_is_noticed():
    with pytest.raises(AssertionError, match="no command"):
        found(["arena", "plai", "--game", "rrps"])
    command, rest = found(["arena", "play", "--game", "rrps", "--macthes", "2"])
    with pytest.raises(click.NoSuchOption):
        command.make_context("arena play", rest)
