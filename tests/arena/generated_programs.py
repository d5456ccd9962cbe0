"""Small random policies, and random changes of them: what a digest must tell apart."""

import io
import keyword
import random
import tokenize

NAMES = ["a", "b", "c", "d", "size", "count", "first", "max", "other", "keys"]
"""Built-ins and names of attributes of built-in types are among them on purpose."""


class Writer:
    """Writes one program; every choice comes from `rng`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names = rng.sample(NAMES, 7)
        self.known: list[str] = []
        self.own: list[str] = []
        self.functions: list[str] = []
        self.fields: list[str] = []
        self.methods: list[str] = []

    def any_of(self, names: list[str]) -> str:
        return self.rng.choice(names if names and self.rng.random() < 0.95 else self.names)

    def name(self) -> str:
        return self.rng.choice(self.names)

    def value(self, depth: int = 2) -> str:
        pick = self.rng.randrange(15 if depth else 5)
        name, less = self.name(), depth - 1
        match pick:
            case 0:
                return str(self.rng.randrange(4))
            case 1 | 2 | 3:
                return self.any_of(self.known)
            case 4:
                return f"self.{self.any_of(self.fields)}" if self.fields else "1"
            case 5 | 6:
                return f"({self.value(less)} {self.rng.choice('+-|')} {self.value(less)})"
            case 7:
                return f"{self.any_of(self.functions)}({self.value(less)})"
            case 8:
                method = self.any_of(self.methods)
                return f"self.{method}({self.value(less)})" if self.fields else "2"
            case 9:
                return f"({self.value(less)} if {self.value(less)} else {self.value(less)})"
            case 10:
                return f"sum({self.value(less)} + {name} for {name} in range(3))"
            case 11:
                return f"(lambda {name}: {self.value(less)} - {name})({self.value(less)})"
            case 12:
                return f"Other({self.value(less)}).{self.rng.choice(['first', 'size', name])}"
            case 13:
                return f"{self.any_of(self.functions)}({self.name()}={self.value(less)})"
            case _:
                return f"len([{self.value(less)}, {self.value(less)}])"

    def block(self, indent: int, depth: int = 2) -> list[str]:
        found: list[str] = []
        for _ in range(self.rng.randrange(1, 4)):
            found += self.statement(indent, depth)
        return found

    def statement(self, indent: int, depth: int) -> list[str]:
        pad, name = " " * indent, self.any_of(self.own)
        match self.rng.randrange(14 if depth else 8):
            case 0 | 1 | 2:
                return [f"{pad}{name} = {self.value()}"]
            case 3:
                return [f"{pad}self.{self.any_of(self.fields)} = {self.value()}"]
            case 4 | 5:
                return [f"{pad}{name} += {self.value()}"]
            case 6:
                return [f"{pad}{self.rng.choice(['pass', '0', 'assert True', 'a: int'])}"]
            case 7:
                return [f"{pad}if {self.value()}: return {self.value()}"]
            case 8 | 9:
                lines = [f"{pad}if {self.value()} > 1:", *self.block(indent + 1, depth - 1)]
                return [*lines, f"{pad}else:", *self.block(indent + 1, depth - 1)]
            case 10:
                return [f"{pad}for {name} in range(3):", *self.block(indent + 1, depth - 1)]
            case 11 | 12:
                lines = self.function(name, self.name(), indent, depth - 1)
                self.functions.append(name)
                return lines
            case _:
                lines = [f"{pad}try:", *self.block(indent + 1, depth - 1)]
                return [*lines, f"{pad}except Exception:", f"{pad} {name} = 1"]

    def function(
        self, name: str, argument: str, indent: int, depth: int, *, method: bool = False
    ) -> list[str]:
        pad, rng = " " * indent, self.rng
        before = self.known, self.own
        self.own = rng.sample(self.names, 2)
        self.known = [*self.known, argument, *self.own]
        listed = ["self"] * method + [argument + rng.choice(["=0", "=0", "=0, *rest"])]
        lines = [f"{pad}def {name}({', '.join(listed)}):"]
        outer = self.name()
        if rng.random() < 0.2 and outer != argument:
            lines += [f"{pad} {rng.choice(['global', 'nonlocal'])} {outer}"]
        lines += [f"{pad} {' = '.join(self.own)} = {rng.randrange(3)}"]
        lines += [*self.block(indent + 1, depth), f"{pad} return {self.value()}"]
        self.known, self.own = before
        return lines

    def program(self) -> str:
        lines = ["import random"]
        for name in self.rng.sample(NAMES, len(NAMES)):
            if self.rng.randrange(2):
                lines += [f"{name} = {self.rng.randrange(3)}"]
                self.known.append(name)
            elif self.rng.randrange(2):
                lines += self.function(name, self.name(), 0, 1)
                self.functions.append(name)
        lines += ["class Other:", " def __init__(self, a=0):"]
        lines += ["  self.first = a", f"  self.{self.name()} = a"]
        lines += [f"class Agent{self.rng.choice(['', '', '(Other)'])}:"]
        self.fields = self.rng.sample(self.names, 3)
        lines += [f" {name} = {self.rng.randrange(3)}" for name in self.fields]
        for name in self.rng.sample(self.names, 3):
            if name not in self.fields:
                lines += self.function(name, self.name(), 1, 2, method=True)
                self.methods.append(name)
        lines += self.function("act", self.name(), 1, 2, method=True)
        return "\n".join([*lines, ""])


def changed(source: str, rng: random.Random) -> str:
    """The program after a few changes, of which most change what it does."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        change = rng.choice([_other_name, _other_name, _renamed, _without_line, _lines_swapped])
        source = change(source, rng)
    return source


def renamed(source: str, names: dict[str, str]) -> str:
    """The program with every name in it spelled otherwise; strings stay as they are."""
    return _respelled(source, lambda number, name: names.get(name, name))


def _words(source: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found = [token.string for token in tokens if token.type == tokenize.NAME]
    return [word for word in found if not keyword.iskeyword(word)]


def _respelled(source, spelling):
    lines = source.split("\n")
    places = [
        (token.start, token.string)
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string)
    ]
    for number, ((row, column), name) in reversed(list(enumerate(places))):
        line = lines[row - 1]
        new = spelling(number, name)
        lines[row - 1] = line[:column] + new + line[column + len(name) :]
    return "\n".join(lines)


def _other_name(source: str, rng: random.Random) -> str:
    words = _words(source)
    place, new = rng.randrange(len(words)), rng.choice([*words, "fresh", *NAMES])
    return _respelled(source, lambda number, name: new if number == place else name)


def _renamed(source: str, rng: random.Random) -> str:
    words = _words(source)
    old, new = rng.choice(words), rng.choice([*words, "fresh", *NAMES])
    return renamed(source, {old: new})


def _without_line(source: str, rng: random.Random) -> str:
    lines = source.split("\n")
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines)


def _lines_swapped(source: str, rng: random.Random) -> str:
    lines = source.split("\n")
    at = rng.randrange(max(len(lines) - 1, 1))
    lines[at : at + 2] = reversed(lines[at : at + 2])
    return "\n".join(lines)
