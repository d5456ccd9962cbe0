"""Unified diffs and patches are read as edits of one place each."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from oracle.diffs import parse_diffs
from oracle.edits import Edit, apply_edits
from oracle.values import Failure

SOURCE = "class A:\n    x = 1\n    y = 2\n\n    def f(self):\n        x = 1\n        return x\n"
UNIFIED = """I change y.

```diff
--- a/bot.py
+++ b/bot.py
@@ -2,2 +2,3 @@
     x = 1
-    y = 2
+    y = 3
+    z = 4
@@ -7 +8 @@ def f
-        return x
+        return x + 1
```
"""
PATCH = """*** Begin Patch
*** Update File: bot.py
@@ class A:
-    y = 2
+    y = 3
+    z = 4
@@
-        return x
+        return x + 1
*** End Patch
"""
AFTER = SOURCE.replace("y = 2", "y = 3\n    z = 4").replace("return x", "return x + 1")


def test_hunks_are_applied_wherever_they_fit() -> None:
    for reply in (UNIFIED, UNIFIED.replace("\n", "\r\n"), f"```\n{PATCH}```", PATCH):
        assert apply_edits(SOURCE, parse_diffs(reply)) == AFTER


def test_a_hunk_means_one_place() -> None:
    (edit,) = parse_diffs("```diff\n-a\n+b\n```")
    assert edit == Edit(("a",), ("b",), once=True)
    assert apply_edits("a\nc", (edit,)) == "b\nc"
    refused = apply_edits("a\nc\na\n", (edit,))
    assert isinstance(refused, Failure)
    assert "stand in 2 places" in refused.reason


def test_what_is_no_diff_is_none() -> None:
    assert parse_diffs("```python\nx = 1\n- 2\n```") == ()
    assert parse_diffs("```diff\n x = 1\n```") == ()
    assert parse_diffs("*** Begin Patch\n-a\n+b\n") == ()  # it may be cut off


def test_long_replies_are_read_in_no_time() -> None:
    started = time.process_time()
    for text in (
        "*** Begin Patch\n" * 24_000,
        "@@" * 200_000,
        "@@\n-a\n" * 60_000,
        "-a\n" * 120_000,
    ):
        parse_diffs(text)
        parse_diffs(f"```diff\n{text}\n```")
    assert time.process_time() - started < 20.0


@given(st.text(max_size=300))
def test_any_text_gives_edits_or_none(text: str) -> None:
    assert isinstance(parse_diffs(f"```diff\n{text}\n```"), tuple)
