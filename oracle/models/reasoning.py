"""Takes reasoning out of a reply: what a model thought is not what it answered.

Servers that know a model's reasoning put it into a field of its own, which is never read.  Others
leave it in the text, in one of these forms:

* between tags such as <think> and </think>; the first is often part of the prompt, so that the
  text only has the second; where the answer was cut off, it may have only the first;
* between <|channel>thought and <channel|>, as Gemma 4 writes it, or between marks of other makers:
  <unused94>thought and <unused95>, <|START_THINKING|> and <|END_THINKING|>;
* folded away for readers, between <details type="reasoning"> and </details>;
* in channels, as gpt-oss writes them: <|channel|>analysis<|message|>...<|end|>, and the answer
  behind <|channel|>final<|message|>; where the markers were dropped the text reads
  "analysis...assistantfinal...".
"""

from __future__ import annotations

import re

_NAMES = r"(?:\w+[:_])?think(?:ing)?|thoughts?|reasoning|reflection"
_MARKS = re.compile(
    rf"(?P<opens><(?:{_NAMES})>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel>"
    r"|<unused94>(?:thought)?|<\|START_THINKING\|>)"
    rf"|(?P<closes></(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<channel\|>"
    r"|<unused95>|<\|END_THINKING\|>)"
    r"|(?P<unfolds><details\s[^<>]{0,200}?\btype=[\"']?reasoning\b[^<>]{0,200}>)"
    r"|(?P<folds></details>)"
    r"|(?P<fence>(?:^ {0,3}|(?<=[>\]▷]))(?:`{3,}|~{3,})(?=(?P<info>[^\n]{0,80})))",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS = {"opens": "closes", "unfolds": "folds"}
"""Which of the marks end what others begin: an answer may fold away something else."""
_CHANNEL = re.compile(r"<\|channel\|>\s*+(\w++)[^<]*+(?:<\|constrain\|>[^<]*+)?<\|message\|>")
_CHANNEL_ENDS = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_BARE_CHANNELS = re.compile(r"\s*analysis(?=\S).*?assistantfinal", re.DOTALL)
_PROGRAM = r"(?:class \w+[(:]|<{5,9} ?(?i:SEARCH)\b)"
_PROGRAMS = re.compile(rf"^ {{0,3}}{_PROGRAM}", re.MULTILINE)
_ANSWERS = re.compile(rf"(?:^|(?<=[>\]▷]))[ \t]*+(?:`{{3}}|~{{3}}|\{{|{_PROGRAM})", re.MULTILINE)
"""What begins like an answer: a code block, a JSON object, a program or an edit of one."""
_LOOKED_AT = 200
"""Characters of a line that are looked at on either side of a tag."""
_QUOTES = "\"'`"


def answer_in(text: str) -> str:
    """The answer in a reply's text, without the reasoning before or between; "" for none."""
    if _CHANNEL.search(text):
        return _final_channels(text)
    bare = _BARE_CHANNELS.match(text)
    return text[bare.end() :] if bare else _without_tagged(text)


def _final_channels(text: str) -> str:
    """What stands in the channel of answers."""
    found = []
    for channel in _CHANNEL.finditer(text):
        if channel[1] == "final":
            end = _CHANNEL_ENDS.search(text, channel.end())
            found.append(text[channel.end() : end.start() if end else len(text)])
    return "".join(found)


def _without_tagged(text: str) -> str:
    """What stands outside of tags.

    An opening tag counts at an edge of its line and outside of code blocks, because an answer may
    speak of such tags and a program may hold them.  A closing tag that nothing opened ends
    reasoning that the prompt began, unless it is quoted or stands in a code block.  A block in
    which another one begins was never closed: what came before the tag was no answer.  So it is
    where the tag has a line of its own, and the block no end, or the next one begins right there.

    Some models write one closing tag too many, behind the answer.  It ends nothing where no words
    follow; nor where nothing that begins like an answer does, and reasoning that was opened has
    ended before, or a program stands there.
    """
    kept: list[str] = []
    at, ended, alone, thinking, in_code, answering = 0, 0, False, "", False, False
    marks = list(_MARKS.finditer(text))
    end = _last_word(text, marks)
    last = max((one.start() for one in _ANSWERS.finditer(text)), default=-1)
    for mark in marks:
        kind = mark.lastgroup or ""
        if kind == "fence" and not thinking:
            begins = mark["info"].strip() or (alone and not text[ended : mark.start()].strip())
            if ended and begins:
                kept, at, answering = [], ended, False
            else:
                in_code = not in_code
            ended = 0
        elif kind in _ENDS:
            if not thinking and not in_code and _at_edge(text, mark):
                kept.append(text[at : mark.start()])
                thinking, answering = _ENDS[kind], True
            elif thinking:
                answering = False  # who speaks of tags while thinking may close one too early
        elif kind == thinking:
            at, thinking = mark.end(), ""
        elif kind == "closes" and not thinking and not _quoted(text, mark):
            if mark.start() >= end:
                kept.append(text[at : mark.start()])
                at = mark.end()
            elif in_code:
                ended, alone = mark.end(), _has_a_line(text, mark)
            elif last < mark.end() and (answering or _PROGRAMS.search(text, at, mark.start())):
                answering = True
            else:
                kept, at, answering = [], mark.end(), False
    if in_code and ended and alone:
        kept, at = [], ended
    if not thinking:
        kept.append(text[at:])
    return "".join(kept)


def _last_word(text: str, marks: list[re.Match[str]]) -> int:
    """Where closing tags and blanks are all that is left."""
    end = len(text)
    for mark in reversed(marks):
        if mark.lastgroup != "closes" or text[mark.end() : end].strip():
            break
        end = mark.start()
    return end


def _at_edge(text: str, tag: re.Match[str]) -> bool:
    """Whether nothing but blanks stands before or behind a tag in its line."""
    before = text[max(0, tag.start() - _LOOKED_AT) : tag.start()].rpartition("\n")[2]
    after = text[tag.end() : tag.end() + _LOOKED_AT].partition("\n")[0]
    return not before.strip() or not after.strip()


def _has_a_line(text: str, tag: re.Match[str]) -> bool:
    """Whether nothing but blanks stands before and behind a tag in its line."""
    before = text[max(0, tag.start() - _LOOKED_AT) : tag.start()].rpartition("\n")[2]
    after = text[tag.end() : tag.end() + _LOOKED_AT].partition("\n")[0]
    return not before.strip() and not after.strip()


def _quoted(text: str, tag: re.Match[str]) -> bool:
    """Whether a tag stands between two quotation marks; the marks of a code block are none."""
    before = text[max(0, tag.start() - 2) : tag.start()]
    after = text[tag.end() : tag.end() + 2]
    mark = before[-1:]
    return bool(mark) and mark in _QUOTES and after[:1] == mark and "``" not in (before, after)
