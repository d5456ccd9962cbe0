"""What reads alike, which names are the arena's own, and what a reader is shown."""

import unicodedata

import hypothesis.strategies as st
import pytest
from hypothesis import given

from registry import (
    RESERVED_AUTHORS,
    MalformedName,
    NameRefused,
    Registry,
    Submission,
    shown,
    skeleton,
)
from registry.naming import refuse_likeness, refuse_reserved

ALIKE = [
    *("0o", "0O", "1l", "1i", "1I", "|l", "Il", "iL", "5s", "5S", "2z", "8B"),
    *(("rn", "m"), ("RN", "M"), ("vv", "w"), ("VV", "W"), ("vw", "wv"), ("rnn", "mn")),
    *((".", ""), ("_", "-"), ("+", "."), ("r.n", "m"), ("v-v", "w")),
]
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,20}", fullmatch=True)


@given(text=st.text())
def test_a_skeleton_is_its_own(text: str) -> None:
    assert skeleton(skeleton(text)) == skeleton(text)


@given(first=st.text(), second=st.text())
def test_skeletons_are_put_together_as_texts_are(first: str, second: str) -> None:
    assert skeleton(first + second) == skeleton(first) + skeleton(second)


@given(before=NAMES, pair=st.sampled_from(ALIKE), after=NAMES)
def test_what_is_confused_reads_the_same(before: str, pair: tuple[str, str], after: str) -> None:
    one, other = pair
    assert skeleton(before + one + after) == skeleton(before + other + after)


@given(name=NAMES)
def test_case_and_separators_make_no_difference(name: str) -> None:
    assert skeleton(name.upper()) == skeleton(name.lower()) == skeleton(name)
    assert skeleton("_".join(name)) == skeleton(name)
    assert skeleton(name) != ""


def test_what_is_told_apart() -> None:
    kept = "abcdefghjklnopqrstuvxyz34679"  # One of each: i reads as l, m as rn, w as vv.
    assert len({skeleton(one) for one in kept}) == len(kept)
    assert len({skeleton(f"team{number}") for number in range(100)}) == 100
    for one, other in [("ada", "eda"), ("bob", "bobo"), ("anna", "ana"), ("dan", "clan")]:
        assert skeleton(one) != skeleton(other)


@pytest.mark.parametrize(
    "author",
    [
        *sorted(RESERVED_AUTHORS),
        *("House", "HOUSE", "h0use", "hou5e", "h.o.u.s.e", "ho-use", "house_", "dern0", "dem0"),
        *("Csro", "c5r0", "CSR0", "starter+", "5tarter", "0fficial", "0ff1c1a1", "adrnin", "r00t"),
        *("PolicyArena", "policy_arena", "P0LICY-ARENA", "Check", "anonyrnous", "0perat0r"),
    ],
)
def test_the_arenas_own_names_are_refused_however_they_are_spelled(
    tmp_path_factory: pytest.TempPathFactory, author: str
) -> None:
    with pytest.raises(NameRefused, match="the arena's own"):
        refuse_reserved(author)
    with Registry.open(tmp_path_factory.mktemp("own") / "registry.sqlite") as registry:
        submission = Submission("rrps", f"{author}/x", "python", "x")
        for refuse in (
            lambda: registry.submit(submission),
            lambda: registry.submit_many([submission]),
        ):
            with pytest.raises(NameRefused, match="call yourself otherwise"):
                refuse()
        assert registry.count() == 0
        assert registry.submit(submission, reserved=True).version.author == author


@pytest.mark.parametrize("author", ["ada", "houses", "household", "cs", "me", "anon", "arenas"])
def test_names_that_only_begin_like_the_arenas_own(author: str) -> None:
    refuse_reserved(author)


@given(author=NAMES, others=st.sets(NAMES, max_size=4))
def test_likeness_is_equality_of_skeletons(author: str, others: set[str]) -> None:
    alike = author not in others and skeleton(author) in {skeleton(one) for one in others}
    if alike:
        with pytest.raises(NameRefused):
            refuse_likeness(author, others)
    else:
        refuse_likeness(author, others)


def test_an_alias_is_not_taken_for_a_policy_of_the_arena(registry: Registry) -> None:
    registry.submit(Submission("rrps", "ada/x", "python", "x"))
    for alias in ("house", "House", "h0use.greenberg", "house-CFR", "csro_run", "demo+1"):
        with pytest.raises(NameRefused, match="would be taken for a policy of"):
            registry.set_alias("rrps", alias, "ada/x")
    assert registry.aliases() == ()
    registry.set_alias("rrps", "household", "ada/x")
    registry.set_alias("rrps", "house-champion", "ada/x", reserved=True)
    second = registry.submit(Submission("rrps", "ada/x", "python", "y")).version
    registry.set_alias("rrps", "house-champion", second.ref)  # It is there: it moves.
    assert registry.get("rrps", "house-champion") == second


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain text, 100 %", "plain text, 100 %"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\r\x00\x7f\x85", "[U+001B][31mred[U+000D][U+0000][U+007F][U+0085]"),
        ("a\u202eb\u2066c\u2069", "a[U+202E]b[U+2066]c[U+2069]"),
        ("ze\u200bro\ufeff\u00ad\u2060", "ze[U+200B]ro[U+FEFF][U+00AD][U+2060]"),
        ("\u2028\u2029", "[U+2028][U+2029]"),
        ("a\u3000b\u00a0c", "a b c"),
        ("\u3164\u115f\u2800\ufe0e\ufe0f\ufe00", "[U+3164][U+115F][U+2800]\ufe0e\ufe0f[U+FE00]"),
        ("\U000e0041\ue000\ud800", "[U+E0041][U+E000][U+D800]"),
        ("ünïcode \N{SNOWMAN} Ärger 日本語", "ünïcode \N{SNOWMAN} Ärger 日本語"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, seen: str) -> None:
    assert shown(text) == seen


@given(text=st.text())
def test_what_is_shown_hides_nothing(text: str) -> None:
    visible = shown(text)
    assert shown(visible) == visible
    assert not {unicodedata.category(one) for one in visible if one not in "\n\t"} & {
        *("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    }


def test_descriptions_are_kept_as_they_were_written(registry: Registry) -> None:
    text = "left\u202eright\u200b"
    submission = Submission("rrps", "ada/x", "python", "x", description=text, labels={"k": text})
    registry.submit(submission)
    stored = registry.get("rrps", "ada/x")
    assert (stored.description, stored.labels["k"]) == (text, text)
    assert shown(stored.description) == "left[U+202E]right[U+200B]"


@pytest.mark.parametrize(
    "name", ["house/CFR+", "house/actr_lag2_decay", "csro/RUN", "0/0", "a.b-c/x_"]
)
def test_names_that_are_allowed(registry: Registry, name: str) -> None:
    assert (
        registry.submit(Submission("rrps", name, "python", name), reserved=True).version.ref
        == f"{name}@1"
    )
    assert registry.get("rrps", f"{name}@1").name == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x",
        "/x",
        "x/",
        "a/b/c",
        "a/b@1",
        "-a/b",
        "a/.b",
        "a b/c",
        "a/b\n",
        "ä/b",
        "a/" + "x" * 65,
        "a/b\0",
        "a/\udc80",
        "../etc",
    ],
)
def test_names_that_are_not(registry: Registry, name: str) -> None:
    with pytest.raises(MalformedName, match="write AUTHOR/NAME"):
        registry.submit(Submission("rrps", name, "python", "x"))
    assert registry.count() == 0
