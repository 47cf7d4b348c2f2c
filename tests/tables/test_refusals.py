"""What is not read is refused in one line that says how to convert it."""

import pytest

from superfactor.tables import open_table
from superfactor.tables.files.opening import _HOW


@pytest.mark.parametrize("ending", [*_HOW, ".RData", ".tar.gz", ".soft.gz", ".csv.zip"])
def test_errors_are_one_line_with_advice(ending):
    with pytest.raises(ValueError, match=r"is not supported; \w") as caught:
        open_table(f"folder/x{ending}")
    line = str(caught.value)
    assert line.startswith(f"folder/x{ending}: .")
    assert "\n" not in line
    assert "{" not in line


@pytest.mark.parametrize("name", ["x", "x.gz", "x.abc", "x.parquet.gz", "x.h5ad.gz"])
def test_other_endings(name):
    with pytest.raises(ValueError, match=r"a name that ends in \.csv, .* or \.npz"):
        open_table(name)
