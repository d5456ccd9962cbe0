"""Arrow's columns as numpy's arrays and back: the same as Arrow's own ways say, without pandas."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from arena.columns import column_of, numbers, texts, whole

ROOT = Path(__file__).parents[2]
KINDS = (np.uint8, np.int32, np.int64, np.float64)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 1000])
def test_numbers_are_what_arrow_says(kind, count):
    values = np.arange(count).astype(kind)
    column = column_of(values)
    assert column.equals(pa.array(values))
    assert numbers(column).dtype == kind and np.array_equal(numbers(column), column.to_numpy())
    column.validate(full=True)


def test_every_other_number_is_a_column_as_well():
    values = np.arange(10)[::2]
    assert column_of(values).to_pylist() == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("pieces", [[], [[]], [[1, 2]], [[1], [], [2, 3]]])
def test_pieces_become_one(pieces):
    column = pa.chunked_array([pa.array(piece, pa.int32()) for piece in pieces], pa.int32())
    assert whole(column).equals(column.combine_chunks())
    assert numbers(column).tolist() == column.to_pylist()
    assert numbers(column.slice(1)).tolist() == column.to_pylist()[1:]


def test_an_empty_column_may_have_no_type():
    assert len(numbers(pa.nulls(0))) == 0


def test_what_is_missing_is_no_number():
    with pytest.raises(pa.ArrowInvalid, match="1 of 2"):
        numbers(pa.array([1, None]))


@pytest.mark.parametrize("values", [[], [""], ["a", "", "Ünicode ☃", "z" * 1000]])
def test_texts_are_what_arrow_says(values):
    column = texts(values)
    column.validate(full=True)
    assert column.equals(pa.array(values, pa.string()))


def test_pandas_is_not_loaded():
    code = (
        "import sys, numpy as np, pyarrow as pa\n"
        "from arena.columns import column_of, numbers, texts, whole\n"
        "named = pa.DictionaryArray.from_arrays(column_of(np.arange(2)), texts(['a', 'b']))\n"
        "empty = pa.chunked_array([], pa.int64())\n"
        "assert len(numbers(empty)) == 0 and len(texts([])) == 0\n"
        "table = pa.table({'named': named, 'number': column_of(np.ones(2))})\n"
        "assert numbers(table.column('number')).sum() == 2 and whole(table.column('named'))\n"
        "sys.exit('pandas' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
