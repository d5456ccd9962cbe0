"""The words in which servers refuse: none of them keeps to a list, so each meaning has its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

UNKNOWN = re.compile(
    r"not (?:be )?(?:support|allow|permit)|n[o']t (?:support|accept|know)|unsupported|unknown|"
    r"unexpected|unrecogni[sz]ed|invalid (?:param|field|arg)",
    re.IGNORECASE,
)
POLICY_CODES = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "data_inspection_failed",
        "invalid_prompt",
        "moderation_blocked",
        "responsibleaipolicyviolation",
        "sensitive_words_detected",  # of new-api, which calls it a fault of its own (500)
    }
)
POLICY = re.compile(
    r"usage polic|content (?:management )?polic|content[ _]filter|safety system|moderation|"
    r"inappropriate content|content exists risk|sensitive words?\b",
    re.IGNORECASE,
)
NO_SYSTEM = re.compile(
    r"system (?:role|message|prompt|instruction)s?\b.{0,40}\b(?:not|un)[ -]?(?:supported|allowed)|"
    r"n[o']t support '?system\b|"
    r"only (?:the )?user\b.{0,40} roles? (?:are|is) (?:supported|allowed)|"
    r"conversation roles must alternate|(?:developer|system) instruction is not enabled",
    re.IGNORECASE,
)
"""What templates of models say that know users and assistants alone: some by counting turns."""
STREAM_ONLY = re.compile(
    r"\bstream\W{0,2} (?:must|has to|should|needs to) be (?:set to )?true|"
    r"only supports? (?:the )?stream(?:ing)?\b|enable the stream parameter|"
    r"\b(?:must|to) false for non-streaming|non-stream(?:ing)? \w+ (?:is|are) not supported|"
    r"(?:requires? stream(?:ing)?|streaming is required)\b",
    re.IGNORECASE,
)
"""What ChatGPT's own backend says, and Alibaba of models that think."""
KEY_REFUSED = re.compile(r"\bAPI[ _]key\b", re.IGNORECASE)
MAY_NOT_LOOK = re.compile(
    r"missing scopes?: \S*model\.read|x-api-key|invalid bearer token|"
    r"not allowed to call this route",
    re.IGNORECASE,
)
"""What OpenAI, Anthropic and LiteLLM say of models to a key that may well ask one: it was made for
questions alone, or only they are taken with a key of this protocol."""
NO_MODEL = re.compile(
    r"\bmodels?\b.{0,80}\bnot (?:be )?(?:found|exist)|no such model|unknown model|"
    r"\bmodel[ _]not[ _]found|deployment\b.{0,40}\bnot exist|no models loaded",
    re.IGNORECASE,
)
TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
SURELY_TOO_LONG = re.compile(
    r"maximum context length|"
    r"(?:exceeds?|exceeded|(?:longer|greater|larger) than) (?:[\w']+ ){0,3}context|"
    r"context[ _]?(?:size|length|window)[ _]?(?:was |has been )?exceed",
    re.IGNORECASE,
)
"""Words that mean a context whatever the status: some call a prompt that is too long their fault.
llama.cpp says so, too, when calls that share a context have filled it together: with a shorter
prompt that passes as well."""
TOO_LONG = re.compile(
    rf"{SURELY_TOO_LONG.pattern}|"
    r"maximum (?:prompt|model|input) length|maximum allowed (?:input )?length|"
    r"context (?:size|length|window) is only|configured context|context (?:the )?overflow|"
    r"exceeds? the KV (?:cache|memory)|not exceed max_num_tokens|default_max_tokens \(-|"
    r"model token limit|input (?:token count|tokens exceed)|range of input length|"
    r"(?:prompt|input) (?:is |was )?too (?:long|large)|prompt exceeds max|too many tokens|"
    r"`inputs` (?:tokens \+|must have less)|\bn_keep\b.{0,20}n_ctx|"
    r"reduce (?:the length of )?(?:the |your )?(?:input|prompt|messages)|"
    r"\bmax_tokens must be at least 1, got (?:-|0\b)",  # vLLM: what a prompt leaves of a context
    re.IGNORECASE,
)
TOO_MUCH_AT_ONCE = re.compile(
    r"request too large|(?:input|prompt)\b.{0,40}\bmust be reduced", re.IGNORECASE
)
"""A question that has more tokens than may be sent in a minute: no waiting helps it."""
_NUMBER = r"(\d[\d,]*(?:\.\d+)?(?:[km](?![a-z]))?)"
_LIMITS = tuple(
    re.compile(pattern.replace("#", _NUMBER), re.IGNORECASE)
    for pattern in (
        r"maximum (?:context|prompt|model) length (?:is|of) #",
        r"maximum number of tokens allowed \(?#",
        r"context (?:size|length|window) (?:is |of )?(?:only )?\(?#",
        r"context limit: \d+ \+ \d+ > #",
        r"# maximum context length",
        r"\bn_ctx\W{1,3}#",
        r"model token limit: ?#",
        r"maximum allowed (?:input )?length (?:is |of )?\(?#",
        r"KV memory budget\b.{0,40}\bmax=#",
        r"\bmax_(?:num_tokens|seq_len) \(#",
        r"\bmust (?:be <=|have less than) #",
        r"range of input length should be \[\d+, ?#",
        r"> # maximum",
        r"\(TPM\): Limit #",
    )
)
_PROMPT_TOKENS = re.compile(
    rf"(?<!at least )(?<!upper bound for )(?<!passed )(?<![\d,]){_NUMBER} "
    r"(?:in (?:the messages|your prompt)|of text input|(?:input|`inputs`) tokens|"
    r"tokens from the input)|"
    rf"context limit: {_NUMBER} \+",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    r"(?:at least|upper bound for|passed) \d+ input (?:tokens|characters)", re.IGNORECASE
)
"""From 0.16 on vLLM counts no further than to the first token that is too many."""
_THOUSANDS = {"k": 1_000, "m": 1_000_000}


def limit_in(message: str) -> int | None:
    """Tokens of a context, prompt and answer together; None where a message does not say."""
    found = (pattern.search(message) for pattern in _LIMITS)
    return next((_number(one[1]) for one in found if one), None)


def prompt_tokens_in(message: str) -> int | None:
    """Tokens of the prompt alone; None where a message does not say, or only how many at least."""
    found = _PROMPT_TOKENS.search(message)
    return None if found is None else _number(found[1] or found[2])


def says_at_least(message: str) -> bool:
    """Whether the prompt's tokens in a message are only those that were counted."""
    return prompt_tokens_in(message) is None and bool(_AT_LEAST.search(message))


def _number(text: str) -> int:
    """Of "8192", "8,192", "128k" or "1M"."""
    factor = _THOUSANDS.get(text[-1].lower(), 1)
    return int(float(text.rstrip("kKmM").replace(",", "")) * factor)


_NO_CREDIT_CODES = frozenset(
    {
        "1113",  # of Zhipu
        "arrearage",
        "billing_hard_limit_reached",
        "billing_not_active",
        "budget_exceeded",
        "exceeded_current_quota_error",
        "insufficient_balance",
        "insufficient_credits",
        "insufficient_quota",
        "insufficient_user_quota",
        "payment_required",
    }
)
_NO_CREDIT = re.compile(
    r"insufficient (?:account )?(?:balance|credit|fund|quota)|"
    r"(?:balance|credits?) (?:is |are |has been |have been )?"
    r"(?:insufficient|too low|depleted|exhausted|used up)|"
    r"(?:not enough|out of|no|no more|add) (?:balance|credits?|funds)\b|please recharge|"
    r"billing hard limit|billing (?:is |account is )?(?:not active|inactive|disabled)|"
    r"pre-?pa(?:id|yment) credits?|"
    r"(?<!memory )(?<!thinking )(?<!token )budget (?:has been |was |is )?exceeded|余额不足",
    re.IGNORECASE,
)


def no_credit(status: int, code: str, kind: str, message: str) -> bool:
    """Whether an error means that the account has nothing left to pay with: no waiting helps.

    Args:
      status: of HTTP; 0 where none was told.
      code: the server's word for the error, "" for none.
      kind: its class of errors, "" for none.
      message: in its words.  A quota of a minute or a day is none of money.
    """
    if status == 402 or {code.lower(), kind.lower()} & _NO_CREDIT_CODES:
        return True
    return status in {0, 400, 401, 403, 429} and bool(_NO_CREDIT.search(message))


_STATUSES = tuple(
    (status, re.compile(pattern))
    for status, pattern in (
        (429, "rate_?limit|too_many|throttl|slow_?down|resource_?exhausted|quota|concurren"),
        (503, "overload|unavailable|loading|busy|at_capacity|not_ready"),
        (504, "time_?out|timed_out|deadline"),
        (500, "server_?error|internal|upstream|gateway|api_error|connection"),
        (401, "authenticat|unauthori[sz]ed|api_?key|token_expired"),
        (403, "permission|forbidden|denied"),
        (404, "not_?found|not_exist|unknown_model|no_such_model"),
        (413, "(?:request|entity|payload)_too_large"),
        (400, "invalid_(?:request|arg|param|field|value)|invalid_an_argument|bad_?request"),
    )
)
_NO_SUCH_PLACE = re.compile("unexpected endpoint or method", re.IGNORECASE)
"""LM Studio, of an address that is not its API's."""


def status_in(words: Iterable[str], message: str) -> int:
    """The status that an error would have, had its server not answered with 200.

    Args:
      words: its code and its class, the likelier first.
      message: what it says; read where those tell nothing, and for what is final alone.

    Returns:
      The status; 0 where nothing tells it.
    """
    for word in words:
        said = re.sub(r"[^a-z0-9]+", "_", snake(word))
        found = next((status for status, known in _STATUSES if known.search(said)), 0)
        if found:
            return found
    return 404 if _NO_SUCH_PLACE.search(message) or NO_MODEL.search(message) else 0


def snake(text: str) -> str:
    """A text in which "reasoningEffort" is called "reasoning_effort", as in a question."""
    return re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", text).lower()
