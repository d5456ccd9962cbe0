#!/usr/bin/env bash
# Writes home_1.tar.gz: a home from before seeds were secret, with four matches of each Leduc pair.
# Only the code of that time can make it.  In a clone of this repository, with its environment:
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
git -C "$here" worktree add "$work/code" 2abeccf
(cd "$work/code" && PYTHONPATH=$PWD python -m arena play --game leduc --matches 4 \
    --sandbox process --home "$work/home")
tar --owner=0 --group=0 --numeric-owner --sort=name -C "$work/home" -cf - \
    home.json matches.duckdb registry.sqlite | gzip -9n > "$here/home_1.tar.gz"
git -C "$here" worktree remove --force "$work/code"
rm -r "$work"
