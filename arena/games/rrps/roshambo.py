"""The 43 bots of the RoShamBo programming competitions: who wrote them, and what they do.

Facts: the header, the comments and the code of Darse Billings' tournament test suite (`rsb-ts1.c`,
October 1999, revised July 2000), and of the C++ port of it that is compiled into OpenSpiel
(github.com/jhtschultz/roshambo).  The descriptions are ours.  The port fixed a few reads of
uninitialised memory, so halbot, inocencio and shofar play a little differently than in 1999.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST = "First International RoShamBo Programming Competition"
SECOND = "Second International RoShamBo Programming Competition"
ORGANISER = "Darse Billings (Canada)"
TEST_SUITE = "webdocs.cs.ualberta.ca/~darse/rsb-ts1.c"
PORT = "OpenSpiel's port of the competition's bots, github.com/jhtschultz/roshambo"


@dataclass(frozen=True, slots=True)
class Bot:
    """One bot.

    Attributes:
      name: in the engine.
      title: under which it was entered.
      author: with country, as the organiser gave it.
      dummy: whether the organiser put it into the field as a target or a yardstick.
      year: of the competition.
      description: what it does.
    """

    name: str
    title: str
    author: str
    dummy: bool
    year: int
    description: str

    @property
    def competition(self) -> str:
        """Which one it took part in first."""
        return FIRST if self.year == 1999 else SECOND

    @property
    def original(self) -> str:
        """Where the original code was published."""
        return "mathpuzzle.com/greenberg.c" if self.name == "greenberg" else TEST_SUITE


def _dummy(name: str, title: str, description: str) -> Bot:
    return Bot(name, title, ORGANISER, True, 1999, description)


def _entrant(name: str, title: str, author: str, description: str, year: int = 1999) -> Bot:
    return Bot(name, title, author, False, year, description)


_DUMMIES = (
    _dummy("randbot", "Random (Optimal)", "Throws uniformly at random, which cannot be beaten."),
    _dummy("rockbot", "Good Ole Rock", "Throws rock, always."),
    _dummy("r226bot", "R-P-S 20-20-60", "Random, with scissors three times in five."),
    _dummy("rotatebot", "Rotate R-P-S", "Goes round: rock, paper, scissors, rock, ..."),
    _dummy("copybot", "Beat The Last Move", "Throws what would have beaten the last throw."),
    _dummy("switchbot", "Always Switchin'", "Never throws the same twice in a row, else random."),
    _dummy("freqbot2", "Beat Frequent Pick", "Beats what the opponent has thrown most often."),
    _dummy("pibot", "Pi", "Reads its throws off the digits of pi (modulo 3, zeros left out)."),
    _dummy("switchalot", "Switch A Lot", "Repeats itself only 12 times in 100, else random."),
    _dummy("flatbot3", "Flat", "Keeps its own three counts level: mostly throws its rarest."),
    _dummy("antiflatbot", "Anti-Flat", "Expects the opponent's rarest throw next, and beats it."),
    _dummy(
        "foxtrotbot", "Foxtrot", "Every other throw random, the next a step on from it: +2, +1, 0."
    ),
    _dummy("debruijn81", "De Bruijn", "Plays De Bruijn strings of length 81 one after another."),
    _dummy("textbot", "Text", "Plays a fixed English text that was turned into throws."),
    _dummy(
        "antirotnbot",
        "Anti-rotn",
        "Counts how the opponent steps from throw to throw and uses the step that is most or least "
        "frequent; turns random once 40 throws behind.",
    ),
    _dummy(
        "driftbot",
        "Copy-drift",
        "Half the time copies the opponent's last throw, else random; shifted by another step "
        "every 111 turns.",
    ),
    _dummy(
        "addshiftbot3",
        "Add-react",
        "Four times in five adds up both last throws (modulo 3) and a shift, else random; changes "
        "the shift when it is losing.",
    ),
    _dummy(
        "adddriftbot2",
        "Add-drift",
        "Half the time adds up both last throws (modulo 3) and a shift, else random; changes the "
        "shift every 200 turns.",
    ),
)

_ENTRANTS = (
    _entrant(
        "greenberg",
        "Greenberg",
        "Andrzej Nagorko (Poland)",
        "Winner in 2000. Several hundred predictors from matched histories and frequencies of both "
        "sides, each in three rotations; over six horizons it asks which did best lately, and "
        "plays what the best horizon says.",
        year=2000,
    ),
    _entrant(
        "iocainebot",
        "Iocaine Powder",
        "Dan Egnor (USA)",
        "Winner in 1999. Predicts by history matching and frequencies over six ages, expands every "
        "prediction into six levels of second-guessing, and follows what has scored best.",
    ),
    _entrant(
        "phasenbott",
        "Phasenbott",
        "Jakob Mandelson (USA)",
        "Second in 1999. The six levels of second-guessing over two history matchers, random play "
        "and an early Iocaine Powder.",
    ),
    _entrant(
        "halbot",
        "MegaHAL",
        "Jason Hutchens (Australia)",
        "Third in 1999. A trie of contexts over both interleaved histories in a sliding window; "
        "the context that has predicted best so far decides.",
    ),
    _entrant(
        "russrocker4",
        "RussRocker4",
        "Russ Williams (USA)",
        "Counts what followed each sequence of the last three throws of both sides; shorter "
        "sequences break ties.",
    ),
    _entrant(
        "biopic",
        "Biopic",
        "Jonathan Schaeffer (Canada)",
        "Weighted contexts up to ten throws of either side plus frequencies: four predictions, of "
        "which the most successful is played; random for a while when it loses.",
    ),
    _entrant(
        "mod1bot",
        "Simple Modeller",
        "Don Beal (UK)",
        "Sixteen decaying counts of what follows the last pair of throws, for both players; beats "
        "the one that would have scored best so far, random if none would have won.",
    ),
    _entrant(
        "predbot",
        "Simple Predictor",
        "Don Beal (UK)",
        "Sixteen decaying counts of what follows the last pair of throws; beats the most lopsided "
        "of them.",
    ),
    _entrant(
        "robertot",
        "Robertot",
        "Andreas Junghanns (Germany)",
        "Each of the last ten pairs of throws votes on the next one by what usually came that many "
        "turns after such a pair.",
    ),
    _entrant(
        "boom",
        "Boom",
        "Jack van Rijswijk (Netherlands)",
        "Looks among 27 lags for the context that says most about the opponent's next throw, with "
        "gears against second-guessing and a bail-out to random play.",
    ),
    _entrant(
        "shofar",
        "Shofar",
        "Rudi Cilibrasi (USA)",
        "Draws by exponential weights from 89 simple strategies: constants, mirrors and random "
        "patterns, of which the worst is replaced every turn.",
    ),
    _entrant(
        "actr_lag2_decay",
        "ACT-R Lag2",
        "Dan Bothell, Christian Lebiere and Robert West (USA)",
        "A model of human memory: recalls with noise what followed the opponent's last two throws, "
        "older memories fading with the square root of their age.",
    ),
    _entrant(
        "markov5",
        "Majikthise",
        "Markian Hlynka (Canada)",
        "Samples the opponent's next throw from a Markov table over the last five, and beats it.",
    ),
    _entrant(
        "markovbails",
        "Vroomfondel",
        "Markian Hlynka (Canada)",
        "Majikthise with a bail-out: random as long as it is more than 50 throws behind.",
    ),
    _entrant(
        "granite",
        "Granite",
        "Aaron Davidson (Canada)",
        "Adds up how often each throw came overall and after the last one, two and three throws of "
        "both sides, and beats the most frequent.",
    ),
    _entrant(
        "marble",
        "Marble",
        "Aaron Davidson (Canada)",
        "Sister of Granite with the same sums of frequencies; they differ in how they judge their "
        "own success.",
    ),
    _entrant(
        "zq_move",
        "ZQ Bot",
        "Neil Burch (Canada)",
        "A tree of everything that followed recent sequences of up to nine pairs of throws; starts "
        "afresh after a streak of losses.",
    ),
    _entrant(
        "sweetrock",
        "Sweet Rocky",
        "Lourdes Pena (Mexico)",
        "Piedra that doubts itself: where what came last time is nearly as frequent, it sometimes "
        "decides otherwise.",
    ),
    _entrant(
        "piedra",
        "Piedra",
        "Lourdes Pena (Mexico)",
        "Beats what most often followed the last pair of throws; random for good once 40 throws "
        "behind.",
    ),
    _entrant(
        "mixed_strategy",
        "Mixed Strategy",
        "Thad Frogley (UK)",
        "Draws among four modes by their success: what follows its own last throw, what follows "
        "the opponent's, frequencies, random.",
    ),
    _entrant(
        "multibot",
        "Multi-strategy",
        "Mark James (Canada)",
        "Plays whichever of seven simple strategies did best over about 50 throws.",
    ),
    _entrant(
        "inocencio",
        "Inocencio",
        "Rafael Morales (UK)",
        "Beats a throw that fills 45 % of the last twenty, else looks up what followed the "
        "opponent's last three.",
    ),
    _entrant(
        "peterbot",
        "Peterbot",
        "Peter Baylie (USA)",
        "Has an answer ready for each simple dummy (constant, rotating, frequency-beating, "
        "switching) and tests in turn which one it faces.",
    ),
    _entrant(
        "sunNervebot",
        "Bugbrain",
        "Sunir Shah (Canada)",
        "Probabilities of its throw after each pair of last throws, raised by a win and lowered by "
        "a tie or a loss.",
    ),
    _entrant(
        "sunCrazybot",
        "Knucklehead",
        "Sunir Shah (Canada)",
        "Follows a random rule from its own last throw to the next and draws a new rule the sooner "
        "the less it wins.",
    ),
)

BOTS: tuple[Bot, ...] = tuple(sorted(_DUMMIES + _ENTRANTS, key=lambda bot: bot.name))
"""All 43, in alphabetical order."""
