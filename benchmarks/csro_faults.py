"""A run of CSRO against a server that speaks Gemini's protocol and misbehaves at random.

    python benchmarks/csro_faults.py [--iterations 20] [--kills 6] [--seed 1]

The `csro` command works in a process of its own, is killed with SIGKILL in the middle a few times,
and resumed.  The server runs here; it keeps every question and what it charged for each answer.
One question is one prompt with its seed.  Checked are:

* the run finishes, and `csro report` tells the journal's calls (those that could not be read count,
  too, as they are probably paid for), tokens and cost;
* every reply in the journal is one that the server charged, with its tokens and its list price;
* what was charged and is not in the journal was on its way when the process was killed: the last
  question of that process, so one at most for each kill;
* no question is asked after a kill whose reply was stored before it;
* one process asks no question again that it was answered;
* a finished run asks nothing.

Ends with status 1 where anything is otherwise.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from csro_processes import CSRO, Run

from oracle.models.catalogue import default_model, price_of
from oracle.models.journal import Call
from population.oracles import journal_of
from population.runs import FILE, Runs
from tests.oracle.llm_server import Asked, Charged, LLMServer, Step

MODEL = default_model()
PROGRAM = '''"""Expects of the opponent what it did after the same last throws."""

import random

ACTIONS = ("ROCK", "PAPER", "SCISSORS")


class Agent:
    """Counts the opponent's throws after each {memory} last throws of {whose}, forgetting slowly.

    Answers the likeliest one, or is random, with a chance of {noise}.
    """

    def __init__(self):
        self.counts = {{}}
        self.last = ()

    def act(self, observation):
        mine, theirs = observation["my_action"], observation["opponent_action"]
        if theirs is not None:
            seen = self.counts.setdefault(self.last, dict.fromkeys(ACTIONS, 0.0))
            for action in ACTIONS:
                seen[action] *= {keep}
            seen[theirs] += 1.0
            self.last = (*self.last, {thrown})[-{memory}:]
        seen = self.counts.get(self.last)
        if seen is None or random.random() < {noise}:
            return random.choice(ACTIONS)
        likeliest = max(ACTIONS, key=lambda action: seen[action])
        return ACTIONS[(ACTIONS.index(likeliest) + {shift}) % 3]
'''
CRASHES = '''class Agent:
    """Divides by nothing after a while."""

    def __init__(self):
        self.left = 9

    def act(self, observation):
        self.left -= 1
        return ("ROCK", "PAPER")[1 // self.left]
'''
UNANSWERED = ("429 with a delay", "500", "503", "dropped", "reset", "garbage")
"""Faults after which the same question is asked again: nothing is charged for them."""
ANSWERED = ("slow", "truncated", "blocked", "empty", "no code", "crashing program")
Question = tuple[str, int | None]
"""The prompt and its seed, which differs from one draft to the next."""


def sound_program(rng: random.Random) -> str:
    """One of a family of small predictors."""
    whose, thrown = rng.choice([("its own", "theirs"), ("ours", "mine"), ("both", "mine + theirs")])
    return PROGRAM.format(
        whose=whose,
        thrown=thrown,
        memory=rng.randint(1, 4),
        keep=round(rng.uniform(0.8, 1.0), 3),
        noise=round(rng.uniform(0.0, 0.3), 3),
        shift=rng.choice([1, 1, 1, 2]),
    )


def fault(name: str, rng: random.Random) -> Step:
    """How the server misbehaves."""
    thoughts = rng.randrange(50)
    cut = f"```python\n{sound_program(rng)[: rng.randint(200, 700)]}"
    return {
        "429 with a delay": Step(status=429, retry_delay=f"{rng.uniform(0.1, 1.0):.2f}s"),
        "500": Step(status=500),
        "503": Step(status=503, retry_after="1"),
        "dropped": Step(drop=True),
        "reset": Step(drop="reset"),
        "garbage": Step(raw=b'{"candidates": "what?'),
        "slow": Step(seconds=rng.uniform(0.5, 2.0), thoughts=thoughts),
        "truncated": Step(text=cut, finish="MAX_TOKENS", thoughts=thoughts),
        "blocked": Step(blocked="PROHIBITED_CONTENT"),
        "empty": Step(empty=True, thoughts=thoughts),
        "no code": Step(text="I would throw rock, mostly.", thoughts=thoughts),
        "crashing program": Step(text=f"```python\n{CRASHES}```", thoughts=thoughts),
    }[name]


def script(rng: random.Random, rate: float, steps: int) -> list[tuple[str, Step]]:
    """How the server answers, by a name: never more than three questions in a row not at all."""
    found: list[tuple[str, Step]] = []
    for _ in range(steps):
        recent = [name for name, _ in found[-3:]]
        names = ANSWERED if sum(one in UNANSWERED for one in recent) == 3 else FAULTS
        if rng.random() < rate:
            name = rng.choice(names)
            found.append((name, fault(name, rng)))
        else:
            found.append(("sound", Step(thoughts=rng.randrange(50))))
    return found


FAULTS = (*UNANSWERED, *ANSWERED)


@dataclass
class Account:
    """What was seen while the run was killed and resumed.

    Attributes:
      kills: at each kill, the number of questions so far and those whose replies were stored.
      wrong: what is not as it should be.
    """

    kills: list[tuple[int, frozenset[Question]]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def check(self, holds: bool, what: str) -> None:
        """Prints what was checked, and keeps what does not hold."""
        print(f"  {'yes' if holds else 'NO '}  {what}")
        if not holds:
            self.wrong.append(what)


def calls_of(run: Run) -> tuple[Call, ...]:
    """The journal of a run."""
    if not (run.home / FILE).exists():
        return ()
    return journal_of(Runs(run.home), run.name).calls()


def stored(run: Run) -> frozenset[Question]:
    """Questions whose replies are in the journal."""
    return frozenset((call.request.prompt, call.request.seed) for call in calls_of(run))


def question(asked: Asked) -> Question:
    """What a call to the server asked."""
    return asked.prompt, asked.body.get("generationConfig", {}).get("seed")


def kill_and_resume(run: Run, server: LLMServer, kills: int, rng: random.Random) -> Account:
    """Kills a run after some more questions, at once or soon, resumes it, and lets it end."""
    account = Account()
    for number in range(1, kills + 1):
        goal = len(server.asked) + rng.randint(4, 14)
        process = run.process()
        while len(server.asked) < goal and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.choice([0.0, rng.uniform(0.0, 2.0)]))
        if not run.killed(process):
            print(f"  finished before kill {number}")
            break
        time.sleep(0.5)  # what it asked last arrives
        account.kills.append((len(server.asked), stored(run)))
        print(f"  kill {number} after {len(server.asked)} questions: {run.progress()}", flush=True)
    print(f"  resumed to the end in {run.to_the_end():.1f} s", flush=True)
    return account


def check_payments(account: Account, run: Run, server: LLMServer) -> None:
    """Compares the journal with what the server charged."""
    calls, price = calls_of(run), price_of(MODEL)
    assert price is not None
    paid = {f"r{place}": charged for place, charged in enumerate(server.charged)}
    kept = {call.reply.origin: call.reply for call in calls}
    lost = {origin: charged for origin, charged in paid.items() if origin not in kept}
    account.check(len(kept) == len(calls) and set(kept) <= set(paid), "each reply was charged once")
    tokens = {origin: reply.tokens for origin, reply in kept.items()}
    account.check(
        tokens == {origin: _tokens(paid[origin]) for origin in kept},
        f"tokens: {sum(filter(None, tokens.values())):,} stored and {_sum(lost):,} lost = "
        f"{_sum(paid):,} charged",
    )
    costs = {o: price.cost(c.prompt, c.output + c.thoughts) or 0.0 for o, c in paid.items()}
    equal = all(abs((reply.cost or 0.0) - costs[origin]) < 1e-12 for origin, reply in kept.items())
    total, gone = sum(costs.values()), sum(costs[origin] for origin in lost)
    told = sum(reply.cost or 0.0 for reply in kept.values())
    sums = f"cost: ${told:.6f} stored and ${gone:.6f} lost = ${total:.6f} charged"
    account.check(equal and abs(told + gone - total) < 1e-9, sums)
    reported = report_of(run)["usage"]
    tried = sum(1 + call.reply.lost for call in calls)
    account.check(
        reported["calls"] == tried and abs(reported["cost_usd"] - told) < 1e-9,
        f"csro report: {reported['calls']} calls, {reported['tokens']:,} tokens, "
        f"${reported['cost_usd']:.6f}",
    )
    places = {id(asked): place for place, asked in enumerate(server.asked)}
    last = {asked - 1 for asked, _ in account.kills}
    account.check(
        {places[id(charged.asked)] for charged in lost.values()} <= last,
        f"{len(lost)} replies were on their way at one of {len(account.kills)} kills, and lost",
    )


def check_questions(account: Account, server: LLMServer) -> None:
    """Looks for questions that were asked though their answer was there."""
    answered = {id(charged.asked) for charged in server.charged}
    again = [
        question(asked) in known for start, known in account.kills for asked in server.asked[start:]
    ]
    account.check(not any(again), f"{sum(again)} questions asked again whose reply was stored")
    bounds = [0, *(asked for asked, _ in account.kills), len(server.asked)]
    twice = 0
    for start, end in itertools.pairwise(bounds):
        known = set()
        for asked in server.asked[start:end]:
            twice += question(asked) in known
            if id(asked) in answered:
                known.add(question(asked))
    account.check(not twice, f"{twice} questions asked again by a process that had the answer")


def _tokens(charged: Charged) -> int:
    return charged.prompt + charged.output + charged.thoughts


def _sum(charges: dict[str, Charged]) -> int:
    return sum(map(_tokens, charges.values()))


def report_of(run: Run) -> dict[str, dict[str, float]]:
    """What `csro report` tells."""
    command = [CSRO, "report", run.name, "--home", str(run.home), "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    document: dict[str, dict[str, float]] = json.loads(said)
    return document


def tell(run: Run, server: LLMServer, steps: list[tuple[str, Step]]) -> None:
    """Prints what the server did and what the run made of it."""
    names = Counter(name for name, _ in steps[: len(server.asked)])
    print(f"{len(server.asked)} questions, {len(server.charged)} answers charged:")
    print("  " + ", ".join(f"{names[name]} {name}" for name in ("sound", *FAULTS)))
    iterations = Runs(run.home).iterations(run.name)
    attempts = [attempt for one in iterations for attempt in one.attempts]
    kinds = Counter(attempt.failure.kind.value for attempt in attempts if attempt.failure)
    joined = sum(bool(one.accepted) for one in iterations)
    print(
        f"{len(iterations)} iterations, {joined} programs joined; {len(attempts)} attempts, "
        f"{sum(attempt.repairs for attempt in attempts)} repairs; rejected: "
        + (", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none")
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--refinements", type=int, default=3)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--rate", type=float, default=0.45, help="of the faults")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    steps = script(random.Random(options.seed), options.rate, 2000)
    numbers = itertools.count()

    def reply(prompt: str) -> str:
        rng = random.Random(f"{options.seed}/{next(numbers)}")
        return f"Here it is.\n\n```python\n{sound_program(rng)}```\n"

    words = ["--model", f"gemini:{MODEL}", "--oracle", "linear", "--seed", str(options.seed)]
    words += ["--iterations", str(options.iterations), "--refinements", str(options.refinements)]
    words += ["--payoff-matches", "4", "--evaluation-matches", "4"]
    with (
        LLMServer(reply) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        server.then(*(step for _, step in steps))
        there = {"GOOGLE_GEMINI_BASE_URL": server.url, "GEMINI_API_KEY": "k", "GOOGLE_API_KEY": ""}
        run = Run(Path(folder) / "home", "faults", "rrps", words, {**there, "NO_PROXY": "*"})
        started = time.perf_counter()
        rng = random.Random(f"kills/{options.seed}")
        account = kill_and_resume(run, server, options.kills, rng)
        print(f"finished in {time.perf_counter() - started:.1f} s, faults by seed {options.seed}")
        tell(run, server, steps)
        done = len(Runs(run.home).iterations(run.name))
        account.check(done == options.iterations, f"{done} iterations are done")
        account.check(not run.doubled(), f"{run.doubled()} matches stored twice")
        check_payments(account, run, server)
        check_questions(account, server)
        asked = len(server.asked)
        run.to_the_end()
        account.check(len(server.asked) == asked, "the finished run, resumed, asks nothing")
    print("nothing paid twice, all adds up" if not account.wrong else "WRONG")
    return 1 if account.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
