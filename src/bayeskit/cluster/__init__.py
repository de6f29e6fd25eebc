"""The same counts from Dask and Spark: one short file per engine."""
