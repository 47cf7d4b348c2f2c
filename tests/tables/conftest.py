import pytest

from superfactor.tables import read_study


@pytest.fixture
def read(tmp_path):
    """A `read_study` that first writes its tables: the first as ``t.csv``, others under their names."""

    def run(data, phenotype=None, blocks=None, **parameters):
        def written(name, table):
            table.to_csv(tmp_path / f"{name}.csv", index=False)
            return tmp_path / f"{name}.csv"

        if phenotype is not None:
            parameters["phenotype"] = written("people", phenotype)
        if blocks is not None:
            parameters["blocks"] = {name: written(name, table) for name, table in blocks.items()}
        return read_study(None if data is None else written("t", data), **parameters)

    return run
