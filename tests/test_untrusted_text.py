"""Text that nobody vouches for is parsed in limited children and in the sandbox, nowhere else."""

import ast
import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("arena", "dashboards", "oracle", "population", "registry", "sandbox")
MODULES = {
    path.relative_to(ROOT).as_posix(): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}

PARSERS = frozenset(
    {
        "ast",
        "code",
        "codeop",
        "compileall",
        "difflib",
        "dill",
        "dis",
        "inspect",
        "lib2to3",
        "linecache",
        "marshal",
        "pickle",
        "py_compile",
        "pygments",
        "runpy",
        "shelve",
        "symtable",
        "tokenize",
        "xml",
        "yaml",
    }
)
"""Modules that parse, compile or compare texts in time that the text decides, or load objects."""
BUILT_INS = frozenset({"__import__", "compile", "eval", "exec"})

IN_A_LIMITED_CHILD = {
    "arena/class_check.py",
    "arena/colours.py",
    "arena/contest/tree_shingles.py",
    "arena/fingerprint.py",
    "arena/loose_ends.py",
    "arena/source_reading.py",
}
"""Modules that only limited children import."""
IN_THE_BOX = {name for name in MODULES if name.startswith("sandbox/box/")}
"""Runs behind the walls, apart from us; what of it the host loads parses nothing."""
OF_OURS_ONLY = {
    "arena/server/public.py": "writes XML, and reads none",
    "arena/wire/calls.py": "looks at signatures of our own methods",
    "oracle/edits.py": "compares single lines of at most 200 characters",
    "dashboards/known.py": "compares names, which are short",
    "registry/refs.py": "compares names, which are short",
}


def uses(path: Path) -> set[str]:
    """The parsers that a module of ours uses."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
            found.update({"pygments"} if node.module == "rich.syntax" else ())
        elif isinstance(node, ast.Name):
            found.update({node.id} & BUILT_INS)
        elif isinstance(node, ast.Attribute) and node.attr == "literal_eval":
            found.add("ast")
    return found & (PARSERS | BUILT_INS)


def test_only_these_modules_parse_what_nobody_vouches_for() -> None:
    found = {name for name, path in MODULES.items() if uses(path)}
    named = IN_A_LIMITED_CHILD | IN_THE_BOX | OF_OURS_ONLY.keys()
    assert found - named == set(), {name: uses(MODULES[name]) for name in found - named}
    needless = named - found - IN_THE_BOX
    assert needless == set()


def in_a_process(program: str, *arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_our_processes_do_not_even_load_them() -> None:
    loaded = in_a_process(
        """
        import importlib, sys
        for name in ("arena.cli", "population.cli", "oracle.writer", "oracle.attempts",
                     "dashboards.submissions", "dashboards.views.policy", "population.report.page"):
            importlib.import_module(name)
        print(*sys.modules)
        """
    ).split()
    assert "sandbox.limited" in loaded
    modules = {name.removesuffix(".py").removesuffix("/__init__") for name in IN_A_LIMITED_CHILD}
    assert not {name.replace("/", ".") for name in modules} & set(loaded)


def test_nothing_of_a_source_is_compiled_in_our_process() -> None:
    """Python tells whoever asks (PEP 578) of all that it compiles."""
    said = in_a_process(
        """
        import sys
        from arena.cli.coloured import coloured
        from arena.games import game
        from arena.source_check import difference, docstring_of
        from arena.submission import prepare
        from oracle.extract import extract_program

        compiled = []

        def hook(event, arguments):
            if event in ("compile", "exec", "marshal.loads", "pickle.find_class"):
                compiled.append(str(arguments[0]))

        source = "class Agent:\\n '''Marked.'''\\n def act(self, o): return 'marked'\\n"
        rrps = game("rrps")  # a game is loaded when it is looked up, which reads our own modules
        sys.addaudithook(hook)
        compile("ours = 1", "ours", "exec")
        prepared = prepare(rrps, source, name="a/b")
        assert prepared.description == "Marked.", prepared
        assert docstring_of(source, "Agent") == "Marked."
        assert extract_program(f"```\\n{source}```", "Agent") == source
        assert "+more" in difference(source, source + "more")
        assert coloured(source).spans
        print(len(compiled), [text for text in compiled if "marked" in text.lower()])
        """
    )
    count, _, found = said.strip().partition(" ")
    assert int(count) >= 1
    assert found == "[]"
