"""Scale: `python -m benchmarks scale [figures]`, and on a GPU `python -m benchmarks.scale.gpu`.

============= ====================================================================================
file          idea
============= ====================================================================================
``figures``   their names, and rows printed and kept as they come
``growth``    seconds an iteration against samples, stored values and outputs
``memory``    peak memory of a fit that reads X in passes, against samples
``million``   a million samples of two thousand features: one fit on two cores
``precision`` float32 against float64, and objectives evaluated by plain NumPy
``cluster``   two Dask workers against one, and what a step costs there
``faults``    fits whose worker is killed
``gpu``       the million samples on a GPU
``planted``   data of any length, made block by block
``ledger``    what a fit asks of its samples
``workers``   a cluster of processes on loopback
============= ====================================================================================
"""
