"""What a run of CSRO is told: frozen values, stored with the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from arena.analysis.meta_strategy import DEFAULT_SOLVER, SOLVERS
from arena.analysis.nash import nash
from arena.errors import UsageFault
from arena.games import GAMES
from arena.values import MOST_COMMON, SELECTING, common
from oracle.context import filter_in_words
from oracle.grammar.starts import STARTS
from oracle.impala.training import Training
from oracle.models.options import Asking
from population.measuring import Measuring, at_least
from population.seeds import seed_of

ORACLES = ("zero-shot", "best-of-n", "linear", "alpha-evolve")
ONE_BY_ONE = ("zero-shot", "linear")
"""Oracles that need an answer before they ask again: of them no two calls are under way at once."""
TRAINER = "impala"
"""The oracle whose answers are networks that it trains, instead of programs."""
NETWORK = "network"
"""In the place of the model, where networks are trained."""
CUSTOM = "custom"
"""In the place of the model: the oracle is its author's own, and its name is its identity."""
First = Callable[[str, str], int]
"""From the digests of a candidate and of an opponent to the repetition that they begin with."""
_PACE = {
    "timeout_seconds": "Time-out of a call",
    "parallel": "Calls at once",
    "context_tokens": "Server's context",
}
"""Fields of `Asking` that may change while a run goes on -> their titles."""


@dataclass(frozen=True, slots=True)
class OracleChoice:
    """Which oracle answers, and what it is shown.

    Attributes:
      name: one of `ORACLES`, or `TRAINER`; of an oracle of somebody's own, its identity.
      model: what writes the programs, such as "grammar", "grammar:plain",
        "grammar:parts" or "gemini:gemini-3.8-flash"; `NETWORK`; `CUSTOM`.
      opponents: what of the opponents is shown: "none", "code" or "description".
      shown: which opponents are shown: "all", "top-k:5" or "min-support:0.05"; "all" where none
        is, whatever was asked for: it does nothing there, and must not make another run.
      refinements: M, the most refinements of one candidate (linear); for alpha-evolve, the
        number of generations.
      drafts: N, candidates of best-of-n.
      asking: how a model is asked.
      training: how networks are trained; None for oracles that write programs.
    """

    name: str = "linear"
    model: str = "grammar"
    opponents: str = "code"
    shown: str = "top-k:5"
    refinements: int = 10
    drafts: int = 10
    asking: Asking = field(default_factory=Asking)
    training: Training | None = None

    def __post_init__(self) -> None:
        names = (*ORACLES, TRAINER)
        if self.name not in names and not self.custom:
            raise UsageFault(f"no oracle is called {self.name!r}; there are {', '.join(names)}")
        if self.trains != (self.training is not None) or self.trains != (self.model == NETWORK):
            raise UsageFault(f"the oracle {TRAINER} trains a {NETWORK}, and no other oracle does")
        at_least(0, refinements=self.refinements)
        at_least(1, drafts=self.drafts)
        if self.opponents == "none":
            object.__setattr__(self, "shown", "all")  # as the paper's rows without input have it

    @property
    def custom(self) -> bool:
        """Whether it is an oracle of somebody's own, of which nothing but its name is known."""
        return self.model == CUSTOM

    @property
    def trains(self) -> bool:
        """Whether its answers are networks."""
        return self.name == TRAINER and not self.custom

    @property
    def writes_with_a_model(self) -> bool:
        """Whether a language model that we know of writes the programs."""
        return self.model not in STARTS and not self.custom and not self.trains

    @property
    def writes_one(self) -> bool:
        """Whether the grammar writes a single program for a task, so that no score chooses one.

        A model that does so is told in its prompt how it would be scored.
        """
        single = self.name == "zero-shot" or (self.name == "best-of-n" and self.drafts == 1)
        return single and self.model in STARTS

    def pace(self) -> dict[str, str]:
        """At which pace a model is asked, by titles; without what does nothing for this oracle."""
        recorded = [one.startswith("recorded:") for one in self.model.split(",")]
        if not self.writes_with_a_model or all(recorded):
            return {}  # no server is asked
        told = {_PACE[name]: value for name, value in self.asking.pace().items()}
        if any(recorded) or self.name in ONE_BY_ONE:
            del told[_PACE["parallel"]]
        return told

    def idle_options(self) -> tuple[str, ...]:
        """Names of the fields that do nothing for this oracle."""
        idle = [] if self.name == "best-of-n" and not self.custom else ["drafts"]
        if self.name in ("zero-shot", "best-of-n", TRAINER) or self.custom:
            idle.append("refinements")
        if not self.trains:
            idle.append("training")
        if not self.writes_with_a_model:
            idle += ["opponents", "shown", "asking"]
        elif self.opponents == "none":
            idle.append("shown")
        return tuple(idle)


def _deals(name: str) -> bool:
    """Whether cards are dealt in a game; of one that is not installed here, nobody can tell."""
    return name in GAMES and GAMES[name].has_deals


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One run of CSRO.  Equal configurations give equal runs, whatever they are called.

    Attributes:
      game: its name.
      oracle: see `OracleChoice`.
      iterations: K.
      seed: of every random choice.
      solver: of the meta-game, a key of `arena.analysis.meta_strategy.SOLVERS`.
      initial: the initial policy in words: the version that it was when the run began, as
        author/name@number; "" for the built-in one.  Runs of before have what was given.
      matches: see `Measuring`.
      afresh: whether candidates race by matches that serve nothing else, and u and the payoffs come
        from others.  In runs of before, both came from the same, and all candidates played as many.
      common_cards: whether the candidates of an iteration meet each opponent on the same cards.  In
        runs of before each had its own.  Says nothing where nothing is dealt, or without `afresh`.
      frugal: whether a model is asked no more where nothing more can be won, or be told from noise
        (`oracle.ending`).  In runs of before it was asked to the end.
      hidden_share: of the score by which candidates are chosen that comes from opponents which
        nobody who writes programs is shown (`population.hidden`); 0 for none of that.
      credulous: whether credulous players are among these.  In runs of before there were none.
      yardsticks: whether sigma is chosen by opponents beyond the population, too, where hidden ones
        have a share (`population.yardsticks`).  In runs of before it was not.
      halving: whether an early look is at a sample of the hidden opponents, and drafts of best-of-n
        are halved by it.  In runs of before all were met at once.  Says nothing without a share.
      fine_classes: whether tried programs are archived by classes that tell apart who plays safe
        (`population.archive`).  In runs of before they were not.  Says nothing without a share.
      edition: of the grammar or the prompts that write its programs (`population.edition`); noted
        when a run begins.  Runs of before have "", as have those that neither writes for.
      begins: what tells initial policies apart: the digest of that version; as long as nobody
        looked it up, what `initial` has.
    """

    game: str
    oracle: OracleChoice = field(default_factory=OracleChoice)
    iterations: int = 20
    seed: int = 0
    solver: str = DEFAULT_SOLVER
    initial: str = field(default="", compare=False)
    matches: Measuring = field(default_factory=Measuring)
    afresh: bool = True
    common_cards: bool = True
    frugal: bool = True
    hidden_share: float = 0.0
    credulous: bool = True
    yardsticks: bool = True
    halving: bool = True
    fine_classes: bool = True
    edition: str = ""
    begins: str = ""

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise UsageFault(
                f"no meta-solver is called {self.solver!r}; there are {', '.join(SOLVERS)}"
            )
        at_least(1, iterations=self.iterations)
        if not self.begins:
            object.__setattr__(self, "begins", self.initial)
        if not 0.0 <= self.hidden_share < 1.0:
            raise UsageFault(f"hidden_share is {self.hidden_share}; it must be in [0, 1)")
        if self.hidden_share and self.oracle.trains:
            raise UsageFault("hidden opponents are altered programs: networks are not trained so")
        asked = self.matches.evaluation
        if asked > MOST_COMMON and self.compares_on_common_cards:
            raise UsageFault(
                f"{asked:,} matches: ask for at most {MOST_COMMON:,} matches of {self.game}"
            )

    def to_document(self) -> dict[str, Any]:
        """As plain JSON values."""
        document = asdict(self)
        if self.oracle.training is None:
            del document["oracle"]["training"]  # as runs of before have it
        if not self.edition:
            del document["edition"]  # likewise
        if self.begins == self.initial:
            del document["begins"]  # likewise
        return document

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> RunConfig:
        """The inverse of `to_document`."""
        fields = dict(document)
        told = dict(fields.pop("oracle"))
        asking = Asking(**told.pop("asking", {}))  # runs of before have none
        training = told.pop("training", None)
        if training is not None:
            training = Training(**{**training, "hidden": tuple(training["hidden"])})
        oracle = OracleChoice(**told, asking=asking, training=training)
        matches, afresh = Measuring(**fields.pop("matches")), fields.pop("afresh", False)
        frugal = fields.pop("frugal", not oracle.writes_with_a_model)
        credulous = fields.pop("credulous", not fields.get("hidden_share"))
        halving = fields.pop("halving", not fields.get("hidden_share"))
        fine_classes = fields.pop("fine_classes", not fields.get("hidden_share"))
        common_cards = fields.pop("common_cards", not _deals(fields["game"]))
        found = cls(
            oracle=oracle,
            matches=matches,
            afresh=afresh,
            common_cards=common_cards,
            frugal=frugal,
            credulous=credulous,
            halving=halving,
            fine_classes=fine_classes,
            **fields,
        )
        if "yardsticks" in fields:
            return found
        return replace(found, yardsticks=not found.has_yardsticks)  # a run of before has none

    @property
    def told(self) -> RunConfig:
        """Without the edition, which nobody tells a run: it goes on whatever writes now."""
        return replace(self, edition="")

    @property
    def beginning(self) -> str:
        """The initial policy for people; with its digest where a name alone would mean several."""
        settled = "@" in self.initial or self.begins == self.initial
        return self.initial if settled else f"{self.initial} ({self.begins[:12]})"

    @property
    def vouched(self) -> bool:
        """Whether all programs of the run are the grammar's, which we wrote ourselves."""
        return self.oracle.model in STARTS and not self.initial

    @property
    def has_yardsticks(self) -> bool:
        """Whether anybody beyond the population has a say in sigma: only one rule can hear it."""
        asked = self.yardsticks and self.hidden_share and not self.oracle.writes_one
        return bool(asked) and SOLVERS[self.solver] is nash

    @property
    def _ends_early(self) -> bool:
        """Whether anything may end a search before its time: not a most, where a share hides it."""
        return self.frugal and not (self.oracle.name == "linear" and self.hidden_share > 0.0)

    @property
    def halves(self) -> bool:
        """Whether less effort means fewer hidden opponents."""
        return self.halving and self.afresh and self.hidden_share > 0.0

    @property
    def compares_on_common_cards(self) -> bool:
        """Whether candidates have the same cards, where cards are dealt."""
        return self.afresh and self.common_cards and _deals(self.game)

    def selecting(self, k: int) -> First:
        """Where the matches begin which choose among the candidates of iteration k.

        Common cards are each iteration's own: what was told of some is of no use in the next.
        """
        if self.compares_on_common_cards:
            return partial(common, seed_of(self.seed, self.game, "cards") + k)
        first = SELECTING if self.afresh else 0
        return lambda candidate, opponent: first

    @property
    def variant(self) -> str:
        """The oracle with all that its answers depend on, in words."""
        oracle = self.oracle
        if oracle.custom:
            return f"{oracle.name}, {CUSTOM}"
        rounds = {"linear": f"M {oracle.refinements}", "best-of-n": f"N {oracle.drafts}"}
        rounds["alpha-evolve"] = rounds["linear"]
        if oracle.training is not None:
            rounds[TRAINER] = oracle.training.variant
        parts = [oracle.name, rounds.get(oracle.name, ""), oracle.model]
        if oracle.writes_with_a_model:
            shown = "" if "shown" in oracle.idle_options() else oracle.shown
            parts += [oracle.opponents, shown, str(oracle.asking)]
        return ", ".join(filter(None, parts))

    def described(self) -> dict[str, str]:
        """Everything that the run was told and that has to do with it, in words."""
        oracle, idle = self.oracle, self.oracle.idle_options()
        told = {
            "Game": self.game,
            "Oracle": oracle.name,
            "Model": "the author's own" if oracle.custom else oracle.model,
            **self._written_by(),
            "Refinements (M)": str(oracle.refinements),
            "Drafts (N)": str(oracle.drafts),
            "Opponents as": oracle.opponents,
            # Runs without an edition may have begun when nothing was filled.
            "Opponents shown": filter_in_words(oracle.shown) if self.edition else oracle.shown,
            "Asked with": str(oracle.asking) or "the model's defaults",
            **oracle.pace(),
            "Trained with": str(oracle.training),
            "Iterations (K)": str(self.iterations),
            "Seed": str(self.seed),
            "Meta-solver": self.solver,
            "Initial policy": self.beginning or "built in",
            "Matches of a pair": str(self.matches.payoff),
            "Matches of a candidate": str(self.matches.evaluation),
            "Chosen by": "matches that serve nothing else"
            if self.afresh
            else "the matches of its payoffs",
            "Candidates' cards": "the same" if self.compares_on_common_cards else "each its own",
            "Hidden opponents' share": f"{self.hidden_share:g}"
            + ("" if self.credulous else ", none credulous")
            + ("" if self.yardsticks else ", no yardsticks")
            + ("" if self.halving else ", no halving")
            + ("" if self.fine_classes else ", archive in thirds")
            + (f", {self.matches.hidden} matches each at least" if self.hidden_share else ""),
            "Ends early": "where no more can be won" if self._ends_early else "never",
        }
        names: dict[str, tuple[str, ...]] = {
            "drafts": ("Drafts (N)",),
            "refinements": ("Refinements (M)",),
            "opponents": ("Opponents as",),
            "shown": ("Opponents shown",),
            "asking": ("Asked with", "Ends early"),
            "training": ("Trained with",),
        }
        left_out = {title for name in idle for title in names[name]}
        left_out |= set() if _deals(self.game) else {"Candidates' cards"}
        left_out |= {"Ends early"} if oracle.name in ("zero-shot", "best-of-n") else set()
        left_out |= {"Hidden opponents' share"} if oracle.writes_one else set()
        return {title: value for title, value in told.items() if title not in left_out}

    def _written_by(self) -> dict[str, str]:
        """Which edition of what wrote the programs; nothing where none of ours does."""
        oracle = self.oracle
        if oracle.custom or oracle.trains:
            return {}
        kind = "Prompts" if oracle.writes_with_a_model else "Grammar"
        return {kind: self.edition.partition(" ")[2] or "not recorded"}

    @property
    def pool(self) -> RunConfig:
        """What runs that differ in nothing but their seed have in common; a key to group by.

        Options that do nothing for the oracle have their defaults in it.
        """
        oracle, usual = self.oracle, OracleChoice()
        idle = oracle.idle_options()
        alike = replace(
            self,
            seed=0,
            oracle=replace(oracle, **{name: getattr(usual, name) for name in idle}),
        )
        if not oracle.writes_one:
            return alike
        return replace(
            alike,
            hidden_share=0.0,
            credulous=True,
            halving=True,
            fine_classes=True,
            matches=replace(self.matches, hidden=Measuring().hidden),
        )
