"""What can go wrong with a model.  A reply that is of no use is not an error (see `Reply.failure`).

ArenaError
├── UsageFault
│   ├── UnknownModel        no model is written like that
│   ├── MissingKey          the model's key is not in the environment
│   ├── MissingPackage      the model needs a package that is not installed
│   ├── UnknownPrice        a limit on cost is wanted for a model without a known price
│   └── BadTranscript       the file to be replayed cannot be read
├── BudgetSpent             the limit on cost, calls or tokens is reached: a clean stop
├── JournalUnusable         the file of model calls cannot be read or written
└── ModelError
    ├── ModelUnavailable    the server did not answer, for longer than we may wait
    ├── CallRefused         the server will not answer however often it is asked
    │   └── PromptRefused   it will not answer this question; it may answer another
    ├── ModelRefuses        too many questions in a row were refused
    └── TranscriptExhausted a transcript has no further reply
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.errors import ArenaError, UsageFault

if TYPE_CHECKING:
    from oracle.models.protocol import Reply


class UnknownModel(UsageFault):
    """No model is written like that; the message lists the forms."""


class MissingKey(UsageFault):
    """The model's key is not in the environment; the message names the variables."""


class MissingPackage(UsageFault):
    """The model needs an optional package; the message says how to install it."""


class UnknownPrice(UsageFault):
    """Cost cannot be limited because the model's price is not known."""


class BadTranscript(UsageFault):
    """The transcript cannot be read; the message names the line."""


class BudgetSpent(ArenaError):
    """A limit is reached.  What was done is kept; with a higher limit the run can go on.

    Attributes:
      lost: for each attempt that is probably paid for, a `Reply` with its counts and no text.
    """

    def __init__(self, reason: str = "", lost: tuple[Reply, ...] = ()) -> None:
        super().__init__(reason)
        self.lost = lost


class JournalUnusable(ArenaError):
    """The file of model calls cannot be read or written."""


class ModelError(ArenaError):
    """A model could not be asked, or did not answer.

    Attributes:
      lost: for each attempt that is probably paid for, a `Reply` with its counts and no text.
    """

    def __init__(self, reason: str = "", lost: tuple[Reply, ...] = ()) -> None:
        super().__init__(reason)
        self.lost = lost


class ModelUnavailable(ModelError):
    """The server gave no answer, for longer than we may wait.  Trying later may work."""


class CallRefused(ModelError):
    """The server refuses the call; asking again changes nothing (key, model name, request)."""


class PromptRefused(CallRefused):
    """The server refuses this question as it stands.  Asked in another way it may be answered."""


class ModelRefuses(ModelError):
    """Too many questions in a row got no answer.  What was done is kept; the run can go on."""


class TranscriptExhausted(ModelError):
    """All replies of the transcript are used up."""
