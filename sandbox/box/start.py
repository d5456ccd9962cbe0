"""Starts the box: `python -s -S -P start.py`; see `main` in `referee.py`.

Run as a plain file, so that nothing but this folder has to be there.
"""

import importlib
import os
import sys
import types


def main() -> None:
    """Makes this folder the package `box`, whatever it is called, and runs the referee."""
    package = types.ModuleType("box")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["box"] = package
    importlib.import_module("box.hash_of_none").fix_hash_of_none()
    importlib.import_module("box.referee").main()


if __name__ == "__main__":
    main()
