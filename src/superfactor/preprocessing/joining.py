"""`join_blocks`: join several tables of the same samples, and list samples that are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from superfactor._extras import needed_for

if TYPE_CHECKING:
    from pandas import DataFrame, Index

HOWS = ("outer", "inner")


@dataclass(frozen=True, eq=False)
class JoinedBlocks:
    """Tables of the same samples side by side.

    Attributes
    ----------
    table : DataFrame of shape (n_samples, all columns)
        Samples in the order in which they first occur; NaN in blocks that do not contain the sample.
    blocks : dict from name to slice
        The columns of each block, in the form that `BlockScaler` accepts. Slices of positions are also valid
        for the array that a scaler returns, and if columns are appended.
    lost : DataFrame with the columns ``sample``, ``block`` and ``reason``
        One row for each sample that is not in `table`, with the blocks that contain it. The name is None for
        a row without a name.

    Examples
    --------
    >>> import pandas as pd
    >>> from superfactor.preprocessing import join_blocks
    >>> genes = pd.DataFrame({"KLK3": [7.5, 8.0]}, index=["anna", "bert"])
    >>> blood = pd.DataFrame({"iron": [90.0, 80.0]}, index=["bert", "carl"])
    >>> joined = join_blocks({"genes": genes, "blood": blood}, how="inner")
    >>> joined.table
          KLK3  iron
    bert   8.0  90.0
    >>> joined.blocks
    {'genes': slice(0, 1, None), 'blood': slice(1, 2, None)}
    >>> joined.lost["sample"].tolist()
    ['anna', 'carl']
    """

    table: DataFrame
    blocks: dict[str, slice]
    lost: DataFrame


def join_blocks(blocks: Any, *, on: str | None = None, how: str = "outer") -> JoinedBlocks:
    """Join tables by the names of their samples.

    Parameters
    ----------
    blocks : dict from name to DataFrame, or MuData
        One sample per row. For a MuData, the matrices ``X`` of its modalities are joined by ``obs_names``.
    on : str, optional
        The column of every table that contains the names of the samples; by default the index.
    how : "outer" or "inner", default="outer"
        "outer" keeps all samples; a sample that is not in a block has NaN there, which `LowRankImputer` can
        fill. "inner" keeps samples that are in all blocks.

    Returns
    -------
    joined : JoinedBlocks
        Its ``table``, ``blocks`` and ``lost``. A column name that occurs in several blocks becomes
        ``block:column`` in all of them.

    Notes
    -----
    Names that are numbers in one table and text in another are compared as text. A name that occurs twice in
    a table is an error, and so are tables without a common sample. Rows without a name are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from superfactor.preprocessing import join_blocks
    >>> genes = pd.DataFrame({"g1": [1.0, 2.0], "g2": [3.0, 4.0]}, index=["ann", "bob"])
    >>> blood = pd.DataFrame({"iron": [0.1, 0.2]}, index=["bob", "cyd"])
    >>> joined = join_blocks({"genes": genes, "blood": blood})
    >>> joined.table
          g1   g2  iron
    ann  1.0  3.0   NaN
    bob  2.0  4.0   0.1
    cyd  NaN  NaN   0.2
    >>> joined.blocks
    {'genes': slice(0, 2, None), 'blood': slice(2, 3, None)}
    >>> join_blocks({"genes": genes, "blood": blood}, how="inner").lost
      sample  block        reason
    0    ann  genes  not in blood
    1    cyd  blood  not in genes
    """
    with needed_for("joined blocks", "pandas"):
        import pandas as pd

    if how not in HOWS:
        raise ValueError(f"how={how!r}: 'outer' or 'inner' is required")
    named = _by_sample(_tables(blocks, on), on)
    tables: dict[str, DataFrame] = {}
    lost: list[tuple[Any, str, str]] = []
    for name, table in named.items():
        empty = pd.isna(table.index.to_numpy())
        lost += [(None, name, f"no name ({on or 'index'} is empty)")] * int(empty.sum())
        tables[name] = table[~empty]
    tables = _alike(tables)
    for name, table in tables.items():
        _refuse_twice(name, table)
    samples = _all_samples(tables)
    if how == "inner":
        samples, absent = _in_all(tables, samples)
        lost += absent
    tables = _renamed(tables)
    joined = pd.concat([table.reindex(samples) for table in tables.values()], axis=1)
    ends, places = 0, {}
    for name, table in tables.items():
        places[name] = slice(ends, ends + table.shape[1])
        ends += table.shape[1]
    joined.index.name = on or next(iter(tables.values())).index.name
    return JoinedBlocks(joined, places, pd.DataFrame(lost, columns=["sample", "block", "reason"]))


def distinct_names(blocks: Mapping[str, Sequence[str]], wanted: Collection[str] = ()) -> dict[str, list[str]]:
    """Return column names of each block: ``block:column`` if several blocks share a name, or if wanted."""
    counts = Counter(column for columns in blocks.values() for column in columns)
    return {
        block: [
            f"{block}:{column}" if counts[column] > 1 or f"{block}:{column}" in wanted else column
            for column in columns
        ]
        for block, columns in blocks.items()
    }


def _tables(blocks: Any, on: str | None) -> dict[str, DataFrame]:
    """Return the blocks as a dict of DataFrames."""
    if isinstance(getattr(blocks, "mod", None), Mapping):
        if on is not None:
            raise ValueError(f"on={on!r}: the samples of a MuData are its obs_names; None is required")
        return {str(name): part.to_df() for name, part in blocks.mod.items()}
    if not isinstance(blocks, Mapping) or not blocks:
        raise TypeError(
            f"blocks={type(blocks).__name__}: a dict from the name of a block to its DataFrame, or a "
            "MuData, is required"
        )
    for name, table in blocks.items():
        if not hasattr(table, "reindex") or not hasattr(table, "columns"):
            raise TypeError(f"blocks[{name!r}]: a pandas DataFrame is required, got {type(table).__name__}")
    return {str(name): table for name, table in blocks.items()}


def _by_sample(tables: dict[str, DataFrame], on: str | None) -> dict[str, DataFrame]:
    """Return the tables with the names of the samples as index."""
    if on is None:
        return tables
    for name, table in tables.items():
        if on not in table.columns:
            raise ValueError(f"on={on!r}: blocks[{name!r}] has no such column")
    return {name: table.set_index(on) for name, table in tables.items()}


def _alike(tables: dict[str, DataFrame]) -> dict[str, DataFrame]:
    """Convert the names of samples to text in all tables if their types differ."""
    kinds = {table.index.inferred_type for table in tables.values()}
    if len(kinds) == 1:
        return tables
    return {name: table.set_axis(_text(table.index)) for name, table in tables.items()}


def _text(index: Index) -> list[str]:
    """Return names as text, 7 for 7.0: a column of integers with empty cells is read as floats."""
    plain = [int(v) if isinstance(v, float) and v.is_integer() else v for v in index]
    return [str(value).strip() for value in plain]


def _refuse_twice(name: str, table: DataFrame) -> None:
    for what, index in (("sample", table.index), ("column", table.columns)):
        if not index.is_unique:
            twice = index[index.duplicated()][0]
            raise ValueError(
                f"blocks[{name!r}]: {what} {twice!r} occurs {list(index).count(twice)} times; every {what} "
                "once is required"
            )
    if table.shape[1] == 0:
        raise ValueError(f"blocks[{name!r}]: no columns besides the names; at least one is required")


def _all_samples(tables: dict[str, DataFrame]) -> list[Any]:
    """Return all samples in the order in which they first occur."""
    counts = Counter(sample for table in tables.values() for sample in table.index)
    if len(tables) > 1 and max(counts.values(), default=0) < 2:
        seen = ", ".join(f"{str(t.index[0])!r} in {name!r}" for name, t in tables.items() if len(t))
        raise ValueError(f"blocks: no sample is in two of them ({seen}); the names of the samples must agree")
    return list(counts)


def _in_all(tables: dict[str, DataFrame], samples: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return samples that are in all tables, and rows of `lost` for the others."""
    members = {name: set(table.index) for name, table in tables.items()}
    kept, lost = [], []
    for sample in samples:
        own = [name for name, found in members.items() if sample in found]
        without = [name for name in members if name not in own]
        if without:
            lost.append((sample, ", ".join(own), f"not in {', '.join(without)}"))
        else:
            kept.append(sample)
    if not kept:
        raise ValueError("blocks: no sample is in all of them; how='outer' keeps those in some")
    return kept, lost


def _renamed(tables: dict[str, DataFrame]) -> dict[str, DataFrame]:
    """Return tables with column names as text, ``block:column`` if several blocks share a name."""
    names = distinct_names({name: list(map(str, table.columns)) for name, table in tables.items()})
    found = {name: table.set_axis(names[name], axis=1) for name, table in tables.items()}
    final = Counter(column for table in found.values() for column in table.columns)
    twice = [column for column, count in final.items() if count > 1]
    if twice:
        raise ValueError(f"blocks: two columns would be called {twice[0]!r}; rename one of them")
    return found
