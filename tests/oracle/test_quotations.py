"""Code is found wherever a text quotes it, and words are left alone."""

import ast
import io
import re
import tokenize

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena.games import GAMES, game
from oracle.grammar.genome import GRAMMARS, write_source
from oracle.quotations import CUT, LEAK_CHARS, LEAK_TOKENS, leaks, without_quotations

CONTRACT = game("rrps").contract
SOURCE = '''import random

BEATS = {"ROCK": "SCISSORS", "PAPER": "ROCK", "SCISSORS": "PAPER"}
ACTIONS = ("ROCK", "PAPER", "SCISSORS")


class Agent:
    """Keeps a throw that
    has won."""

    def __init__(self):
        self.counts = [0, 0, 0]
        self.weights = [0.5, 0.25, 0.25]

    def act(self, observation):
        mine, theirs = observation["my_action"], observation["opponent_action"]
        if mine is not None and BEATS[mine] == theirs:  # it has won (as it does)
            return mine
        assert self.counts, "it copies the last throw of its opponent (50 % of all)"
        best = max(range(3), key=lambda a: self.counts[a] * 0.9 + self.weights[a])
        return ACTIONS[(best + 1) % 3]
'''


@pytest.mark.parametrize(
    "quoted",
    [
        "mine is not None and BEATS[mine] == theirs",  # in the middle of a line
        "mine is not None\nand  BEATS [ mine ]==theirs",
        "self.counts=[0,0,0]",
        "max(range(3), key=lambda a: self.counts[a] * 0.9 + self.weights[a])",
        "self.counts[a]*0.9+self.weights",
        "mine, theirs = observation['my_action'], observation['opponent_action']",
        "observation[\u201cmy_action\u201d], observation[\u201copponent_action\u201d]",
        "ACTIONS[(best + 1) % 3]",
        "[(best + 1) % 3",
        '{"ROCK": "SCISSORS", "PAPER": "ROCK"',
    ],
)
def test_code_is_found_in_the_middle_of_lines_and_however_it_is_set(quoted):
    text = f"It is so: `{quoted}`, and well."
    assert leaks(text, SOURCE, CONTRACT) == (quoted,)
    assert without_quotations(text, SOURCE, CONTRACT) == f"It is so: `{CUT}`, and well."


@pytest.mark.parametrize(
    "words",
    [
        "Keeps a throw that has won.",
        "Keeps a throw that",
        "has won (as it does)",
        "It copies the last throw of its opponent (50 % of all), and is random otherwise.",
        "It throws ROCK, PAPER, SCISSORS; 'ROCK', 'PAPER' or 'SCISSORS' (ROCK, PAPER, SCISSORS).",
        'Its choices are "ROCK", "PAPER" and "SCISSORS", at first with weights (0.5, 0.25, 0.25).',
        "`class Agent:` has `def act(self, observation):` and `def __init__(self):`.",
        "Agent.act(self, observation) reads `my_action` and `opponent_action` of `observation`.",
        "It does import random, and mine and theirs: if the best (of all) is none, mine.",
        "Counts of 0, 0 and 0 decide - the best, weighted by 0.9, wins: plus 1, back to 0 at 3.",
    ],
)
def test_words_names_and_what_every_program_has_are_no_code(words):
    assert leaks(words, SOURCE, CONTRACT) == ()
    assert without_quotations(words, SOURCE, CONTRACT) == words


@pytest.mark.parametrize("name", sorted(GAMES))
def test_the_rules_of_a_game_quote_no_program_of_it(name):
    """Whoever describes one says what its methods are called with."""
    played = game(name)
    for source in (played.initial, *_written(name)):
        assert leaks(played.rules, source, played.contract) == ()


def test_a_default_value_is_the_author_s():
    source = "class Agent:\n    def __init__(self, memory=3):\n        self.memory = memory\n"
    quoted = "def __init__(self, memory=3)"
    assert leaks(f"It has {quoted}:", source, CONTRACT) == (quoted,)
    long = (
        "class Agent:\n    def act(\n        self,\n        observation: dict\n    ) -> str: pass\n"
    )
    assert leaks("def act(self, observation: dict) -> str:", long, CONTRACT) == ()


def test_code_is_code_wherever_its_lines_break():
    documented = SOURCE.replace("(3), key", "(\n            3,  # throws\n        ),\n        key")
    for quoted in (
        "best = max(range(",
        "best = max(range( 3, ), key=lambda a: self.counts[a] * 0.9 + self.weights[a])",
        "range(3,), key=lambda a: self.counts",
    ):
        assert leaks(quoted, documented, CONTRACT) == (quoted,)
    several = 's = """\ndata: 1, 2\n"""\n"""doc: 1, 2, 3, 4"""\n'
    assert leaks('s = """ data: 1, 2 """', several)
    assert leaks("doc: 1, 2, 3, 4", several) == ()


def _written(name):
    """Programs of somebody who writes a docstring, comments and long expressions."""
    return [write_source(GRAMMARS[name].full())] if name in GRAMMARS else []


@pytest.mark.parametrize("name", sorted(GRAMMARS))
def test_what_a_program_says_of_itself_quotes_none_of_its_code(name):
    """Its docstrings and comments, as long as they have no expression in them."""
    played = game(name)
    for source in (played.initial, *_written(name)):
        said = [
            ast.get_docstring(node) or ""
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        ]
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        said += [one.string.lstrip("# ") for one in tokens if one.type == tokenize.COMMENT]
        assert leaks(" ".join(" ".join(said).split()), source, played.contract) == ()


WORDS = """its last best throw wins counts weights random mine theirs if not and or is a self
observation opponent's 3 0.9 50 % , . ; : ( ) - ROCK PAPER 'ROCK' "PAPER\""""
PROSE = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=30)


@given(PROSE)
def test_no_sentence_of_the_words_of_a_program_is_its_code(words):
    """Whatever words and signs of prose come together, a program with others quotes none."""
    assert leaks(" ".join(words), SOURCE, CONTRACT) == ()


NAMES = st.sampled_from(["mine", "theirs", "self.counts", "0.9", "'ROCK'", '"my_action"', "x[1]"])
OPERATORS = st.sampled_from(["+", "==", " and ", "*", " if ", "-", "//", ">="])


@given(NAMES, st.lists(st.tuples(OPERATORS, NAMES), min_size=4, max_size=9), st.data())
def test_any_part_of_eight_tokens_is_found_however_it_is_set(first, more, data):
    """With blanks set anew and the other quote marks."""
    words = [first, *(word for pair in more for word in pair)]
    source = f"value = call({''.join(words)})  # a remark\n"
    start = data.draw(st.integers(0, len(words) - LEAK_TOKENS))  # a word is a token, or several
    part = words[start : data.draw(st.integers(start + LEAK_TOKENS, len(words)))]
    tokens = re.findall(r"[\"']\w+[\"']|\d+\.\d+|\w+|//|==|>=|\S", "".join(part))
    assert len(tokens) >= LEAK_TOKENS
    assume(any(re.fullmatch(r"[-+*=/>\[\]]+", one) for one in tokens))
    assume(any(one.isidentifier() and one not in ("and", "if") for one in tokens))
    turned = [one.translate(str.maketrans("\"'", "'\"")) for one in tokens]
    quoted = data.draw(st.sampled_from([" ", "  ", "\n"])).join(turned)
    text = f"So it is {quoted}, you see."
    assert leaks(text, source) == (quoted,)
    assert without_quotations(text, source) == f"So it is {CUT}, you see."


def test_what_is_shorter_gives_nothing_away():
    assert len("x = last + 1") == LEAK_CHARS
    assert leaks("It does x = last + 1.", "x = last + 1\n") == ("x = last + 1",)
    assert leaks("It does x = las + 1.", "x = las + 1\n") == ()
    assert leaks("It has last + 1 in it.", "x = last + 1\n") == ()


def test_passages_that_overlap_are_one():
    program = "total = my_wins\ntotal = my_wins - my_losses\n"
    assert leaks("So total = my_wins - my_losses.", program) == ("total = my_wins - my_losses",)


@given(st.text(max_size=200), st.text(alphabet="ab1 =()[]'\"#.\\\n-", max_size=200))
def test_any_text_and_any_program_can_be_compared(text, source):
    cut = without_quotations(text, source)
    assert (cut == text) == (not leaks(text, source))
