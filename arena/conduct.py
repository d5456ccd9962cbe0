"""How the matches of a policy were played, and what audits found: what its score rests on."""

from __future__ import annotations

from dataclasses import dataclass

from arena.audit import evidence
from arena.home import Home
from arena.store import AuditCount, Sharing, Verdict
from registry.values import PolicyVersion

FINDINGS = 5
"""How many differences are told at most."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """What is on record of a policy's matches.

    Attributes:
      played: how they were isolated from each other, and how many were played twice.
      audits: what came of playing some a second time.
      findings: of the latest audits that it answers for, what was different, in words.
    """

    played: Sharing
    audits: AuditCount
    findings: tuple[str, ...]


def conduct_of(home: Home, version: PolicyVersion, rules: int) -> Conduct:
    """The conduct of a policy under one version of its game's rules."""
    digest, store = version.digest, home.store
    found = store.audits(game=version.game, of=digest, verdicts={Verdict.DIFFERENT}, limit=FINDINGS)
    return Conduct(
        store.sharing(version.game, rules).get(digest, Sharing(0, 0, 0)),
        store.audit_counts(version.game, rules).get(digest, AuditCount(0, 0, 0)),
        tuple(evidence(audit) for audit in found if audit.suspect == digest),
    )


def in_words(conduct: Conduct) -> dict[str, str]:
    """The same as facts for people, by their headings; empty where nothing is on record."""
    played, audits = conduct.played, conduct.audits
    facts = {}
    if played.sandboxed:
        alone = f"{played.sandboxed:,}, each in a process of its own"
        facts["matches"] = (
            alone
            if not played.shared
            else (
                f"{played.sandboxed:,}, {played.shared:,} of them in a process shared with others"
            )
        )
    if played.do_overs:
        facts["done over"] = f"{played.do_overs:,} matches, because a shared process failed"
    if audits.same or audits.different or audits.inconclusive:
        facts["audits"] = (
            f"{audits.same:,} came out the same, {audits.different:,} did not, "
            f"{audits.inconclusive:,} say nothing"
        )
    facts |= {f"finding {n}": told for n, told in enumerate(conduct.findings, 1)}
    return facts
