"""A chunk that tells what else is in the process that it runs in; imports nothing of Ray."""

from pathlib import Path


class Neighbours:
    """Answers whether Ray's core, with threads of its own, is loaded where it runs."""

    def run(self, chunk):
        return "_raylet" in Path("/proc/self/maps").read_text()

    def close(self):
        pass
