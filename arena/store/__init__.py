"""The store of matches: one DuckDB file that many processes append to and read at once."""

from arena.store.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreTooNew,
    StoreUnwritable,
)
from arena.store.store import MatchStore
from arena.store.values import (
    Audit,
    AuditCount,
    GameCount,
    MatchRow,
    Sharing,
    StoredRepetitions,
    Verdict,
)

__all__ = [
    "Audit",
    "AuditCount",
    "GameCount",
    "MatchRow",
    "MatchStore",
    "Sharing",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreTooNew",
    "StoreUnwritable",
    "StoredRepetitions",
    "Verdict",
]
