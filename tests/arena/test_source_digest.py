"""What of a policy's source counts, for its digest; and its docstring."""

import ast

from arena.contract import AuthorContract
from arena.source_check import docstring_of, normalised_digest

THROWS = AuthorContract("Agent", {"act": 1}, {})


def digest_of(source: str) -> str:
    return normalised_digest(source, THROWS)


SOURCE = '''
"""Module."""
import random

class Agent:
    """Copies the throw before.

    At length.
    """

    def act(self, observation):
        """Acts."""
        return observation["opponent_action"] or "ROCK"  # copy
'''


def test_clones_share_a_digest_whatever_their_layout() -> None:
    same = [
        SOURCE.replace("# copy", "# something else"),
        SOURCE.replace('"""Acts."""', "").replace("At length.", "In short."),
        SOURCE.replace("    ", "\t"),
        SOURCE.replace('or "ROCK"', "or (\n   'ROCK')"),
        SOURCE.replace('"ROCK"', 'u"ROCK"'),
        ast.unparse(ast.parse(SOURCE)),
        SOURCE.replace("observation)", "seen)").replace("observation[", "seen["),
    ]
    digest = digest_of(SOURCE)
    assert {digest_of(source) for source in same} == {digest}
    others = [
        SOURCE.replace("ROCK", "PAPER"),
        SOURCE.replace("or", "and"),
        SOURCE.replace("observation[", "seen["),
        SOURCE.replace('or "ROCK"', "or 1"),
        SOURCE.replace('or "ROCK"', "or 1.0"),
        SOURCE.replace('or "ROCK"', "or True"),
        SOURCE.replace('or "ROCK"', "or None"),
        SOURCE.replace('or "ROCK"', "or b'ROCK'"),
        SOURCE.replace('or "ROCK"', "or 0x" + "f" * 9000),
        SOURCE.replace("import random", "from random import *"),
    ]
    assert len({digest, *map(digest_of, others)}) == 1 + len(others)
    assert digest_of("no python") == ""


def test_a_digest_knows_where_a_node_ends() -> None:
    assert digest_of("f(a, b)(c)") != digest_of("f(a)(b, c)")
    assert digest_of("if a:\n b\nc") != digest_of("if a:\n b\n c")
    assert digest_of("if a:\n b\nelse:\n c") != digest_of("if a:\n b\n c")
    assert digest_of("f('a\\0b')") != digest_of("f('a', 'b')")


def test_docstrings() -> None:
    assert docstring_of(SOURCE, "Agent") == "Copies the throw before.\n\nAt length."
    assert docstring_of(SOURCE, "Bot") == ""
    assert docstring_of("class Agent: ...", "Agent") == ""
    assert docstring_of("class Agent", "Agent") == ""
