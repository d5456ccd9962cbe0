"""A digest of what a program does: the same for two programs that differ in their writing only.

It ignores layout, comments and docstrings; the names that the author chose (of variables,
arguments, functions, classes, attributes and methods, but for those of the game's contract); type
annotations; the order of imports, methods and functions; how a number or a string is written
(`0x10`, `"a" "b"`, `2 * 3`); and what certainly does nothing: `pass`, constants as statements,
`assert True`, statements that are never reached, `else` after `return`, names that are given a
constant or a function and never used, parameters that the game does not fill and nobody reads.

Programs that behave differently have different digests; in doubt a difference counts.  So a name
stays as it is where anything could see it: built-ins, modules and what is in them, keyword
arguments, attributes that a library may have or that a string mentions; and all names stay where
the program looks at names (`getattr`, `vars`, an exception's text, ...; see `authors.py`).  Two
things are not followed: the text that Python makes of a function object, and the line numbers and
the memory that a program has.  That two programs do the same is not decidable; many that do have
different digests.

Runs in the limited child only (`arena/source_reading.py`), and recurses as deeply as the tree is.
"""

from __future__ import annotations

import ast
import hashlib

from arena.contract import AuthorContract
from arena.fingerprint.authors import Authorship
from arena.fingerprint.classes import look
from arena.fingerprint.fold import fold
from arena.fingerprint.inert import annotations_matter, only_names_types
from arena.fingerprint.scopes import resolve
from arena.fingerprint.spare import drop_spare_parameters
from arena.fingerprint.survey import Survey, alive
from arena.fingerprint.words import Spelling

VERSION = 2
"""Rises when a program could get another digest.  Digests of version 1 have no prefix."""


def fingerprint(tree: ast.Module, contract: AuthorContract) -> str:
    """The digest of a program, which is changed in place.

    Args:
      tree: of a program that Python can compile.
      contract: whose names count.

    Returns:
      The version, a colon, and 32 hexadecimal digits.
    """
    digest = hashlib.blake2b("\0".join(spell(tree, contract)).encode(), digest_size=16)
    return f"{VERSION}:{digest.hexdigest()}"


def spell(tree: ast.Module, contract: AuthorContract) -> list[str]:
    """The words that the digest is made of."""
    names = resolve(tree)
    docstrings = fold(tree, names)
    classes = look(names)
    matter = annotations_matter(names)
    future = "annotations" in names.future

    def annotated(annotation: ast.expr) -> bool:
        return matter or not (future or only_names_types(annotation, names))

    survey = Survey(tree, names, classes, annotated)
    living = alive(survey.root, contract)
    authors = Authorship(names, classes, living, contract)
    if authors.attributes_count:
        living = alive(survey.root, contract, attributes=True)
        authors = Authorship(names, classes, living, contract)
    left_out = {unit.node for unit in survey.units if unit not in living}
    if authors.everything_counts:
        left_out, matter = set(), True
    elif not authors.attributes_count:
        drop_spare_parameters(tree, names, contract, authors.used, annotated)
    if not matter:
        left_out.update(one for one, name in names.imported.items() if name.startswith(_FUTURE))
    kept = docstrings if authors.docstrings_count else {}
    keys = {unit.node: unit.keys for unit in survey.units}
    spelling = Spelling(names, classes, authors, keys, left_out, annotated, kept)
    spelling.write(tree)
    return spelling.words


_FUTURE = "__future__."
