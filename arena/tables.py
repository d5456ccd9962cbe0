"""A home as files for other tools: matches, pairs, policies, and what their columns are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq

from arena.home import Home
from arena.listings import Policies
from arena.store.errors import StoreUnwritable

COLUMNS = Path(__file__).parent / "export_columns.md"


def export_tables(home: Home, folder: Path, *, moves: bool = False) -> tuple[Path, ...]:
    """Writes Parquet files and `columns.md` into a folder; files of those names are replaced.

    Without `moves` a `moves.parquet` that an earlier export left there is removed.

    Args:
      home: what is written.
      folder: made where it is missing.
      moves: whether to write every match's moves, too.

    Returns:
      The files.

    Raises:
      StoreError: they cannot be written.
    """
    files = home.store.export(folder, moves=moves)
    policies, columns = folder / "policies.parquet", folder / "columns.md"
    try:
        pq.write_table(Policies(home.registry.find()).to_arrow(), policies, compression="zstd")
        shutil.copyfile(COLUMNS, columns)
    except OSError as error:
        raise StoreUnwritable(f"{folder} cannot be written ({error.strerror})") from error
    return (*files, policies, columns)
