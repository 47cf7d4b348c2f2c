"""One table in every layout and format that is read, each written by somebody else's code."""

import gzip
from contextlib import nullcontext

import numpy as np
import pandas as pd
from scipy import io, sparse

LABEL = "status"


def plain(X, y, features, samples):
    table = pd.DataFrame(X, columns=features)
    table.insert(0, LABEL, y)
    table.insert(0, "patient", samples)
    return table


def turned(table):
    """Features in rows; a row with the labels on top."""
    return table.set_index("patient").T.rename_axis(columns=None)


def write(kind, folder, table):
    """The path of a file or folder of this kind with the samples of a plain table."""
    path = folder / kind
    WRITERS[kind](table, path)
    return path


def _values(table):
    return table.drop(columns=["patient", LABEL])


def _annotated(table):
    import anndata

    values = _values(table)
    obs = pd.DataFrame({LABEL: pd.Categorical(table[LABEL])}, index=list(table["patient"]))
    return anndata.AnnData(values.to_numpy(), obs=obs, var=pd.DataFrame(index=list(values.columns)))


def _layered(table, path):
    import anndata

    data = _annotated(table)
    empty = sparse.csr_matrix(data.shape)
    layers = {"counts": sparse.csc_matrix(data.X)}
    whole = anndata.AnnData(empty, obs=data.obs, var=data.var, layers=layers)
    whole.raw = data
    whole.write_h5ad(path)


def _two_modalities(table, path):
    import mudata

    data = _annotated(table)
    half = data.n_vars // 2
    # What 0.4 does anyway, 0.3 has to be told.
    quiet = getattr(mudata, "set_options", lambda **_: nullcontext())
    with quiet(pull_on_update=False):
        both = mudata.MuData({"rna": data[:, :half].copy(), "protein": data[:, half:].copy()})
        both.obs[LABEL] = data.obs[LABEL]
        both.write(path)


def _series(table, path):
    def line(name, cells):
        return "\t".join([name, *(f'"{cell}"' for cell in cells)])

    values, samples = _values(table), table["patient"]
    about = [[f"{LABEL}: {label}", f"age: {40 + row}"] for row, label in enumerate(table[LABEL])]
    about[1].reverse()  # not every sample has its characteristics in the same order
    lines = ['!Series_title\t"A series"', "", line("!Sample_title", [f"tissue of {s}" for s in samples])]
    lines += [line("!Sample_geo_accession", samples), line("!Sample_taxid_ch1", ["9606"] * len(samples))]
    lines += [line("!Sample_characteristics_ch1", [cells[k] for cells in about]) for k in range(2)]
    lines += ["!series_matrix_table_begin", line('"ID_REF"', samples)]
    lines += ["\t".join([f'"{name}"', *map(repr, column.tolist())]) for name, column in values.items()]
    lines += ["!series_matrix_table_end", ""]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))


def _ten_x(table, path):
    values = _values(table)
    path.mkdir()
    with gzip.open(path / "matrix.mtx.gz", "wb") as file:
        io.mmwrite(file, sparse.coo_matrix(values.to_numpy().T), precision=17)
    names = [f"ENSG{j:011}\t{name}\tGene Expression" for j, name in enumerate(values.columns)]
    for name, lines in (("barcodes", table["patient"]), ("features", names)):
        (path / f"{name}.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def _sparse_arrays(table, path):
    values = sparse.csr_matrix(_values(table).to_numpy())
    np.savez(
        path,
        **{name: getattr(values, name) for name in ("data", "indices", "indptr", "shape")},
        vocabulary=np.array(_values(table).columns, dtype=str),
        **{name: table[name].to_numpy(dtype=str) for name in ("patient", LABEL)},
    )


def _dense_arrays(table, path):
    names = np.array(_values(table).columns, dtype=str)
    labels = {name: table[name].to_numpy(dtype=str) for name in ("patient", LABEL)}
    np.savez(path, X=_values(table).to_numpy(), feature_names=names, **labels)


def _excel(table, path):
    with pd.ExcelWriter(path) as book:
        table.to_excel(book, sheet_name="values", index=False)
        table[["patient"]].to_excel(book, sheet_name="people", index=False)


WRITERS = {
    "plain.csv": lambda t, path: t.to_csv(path, index=False),
    "decimal-commas.csv": lambda t, path: t.to_csv(path, index=False, sep=";", decimal=","),
    "decimal-commas.tsv": lambda t, path: t.to_csv(path, index=False, sep="\t", decimal=","),
    "windows.csv": lambda t, path: t.to_csv(path, index=False, encoding="cp1252"),
    "utf-16.txt": lambda t, path: t.to_csv(path, index=False, sep="\t", encoding="utf-16"),
    "index.parquet": lambda t, path: t.set_index("patient").to_parquet(path),
    "nameless.parquet": lambda t, path: t.set_index("patient").rename_axis(None).to_parquet(path),
    "rows.csv.gz": lambda t, path: turned(t).to_csv(path),
    "rows.tsv": lambda t, path: turned(t).to_csv(path, sep="\t", index_label="probe"),
    "rows-of-values.parquet": lambda t, path: turned(t).drop(index=LABEL).astype(float).to_parquet(path),
    "annotated-rows.csv": lambda t, path: turned(t)
    .assign(**{"Gene Symbol": [f"name of {f}" for f in t.columns[1:]], "chromosome": "7"})
    .drop(index=LABEL)
    .to_csv(path, index_label="ID", columns=["Gene Symbol", "chromosome", *t["patient"]]),
    "GSE1_series_matrix.txt.gz": _series,
    "plain.xlsx": _excel,
    "rows.xlsx": lambda t, path: turned(t).to_excel(path),
    "plain.h5ad": lambda t, path: _annotated(t).write_h5ad(path),
    "layers.h5ad": _layered,
    "two.h5mu": _two_modalities,
    "filtered_feature_bc_matrix": _ten_x,
    "sparse.npz": _sparse_arrays,
    "dense.npz": _dense_arrays,
}  # fmt: skip
