# Makes the files beside it, which the tests read. They were made by numpy 2.4.6, pyarrow 26.0.1 and pandas 3.1.1.
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

for kind in ["b1", "u1", "i1", "u2", "i2", "<u4", "<i4", ">i4", "<u8", "<i8", "<f4", ">f4", "<f8", ">f8"]:
    name = kind.replace("<", "").replace(">", "big-")
    np.save(f"{name}.npy", np.arange(6).reshape(2, 3).astype(kind))
np.save("negative.npy", np.array([-1, -128, 127], dtype="i1"))
np.save("fortran.npy", np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)))
np.save("complex.npy", np.arange(6, dtype="c8"))
np.save("text.npy", np.array(["a", "b"]))
np.save("records.npy", np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]))
np.save("single.npy", np.float32(3))
for version in [(1, 0), (2, 0), (3, 0)]:
    with open(f"version{version[0]}.npy", "wb") as f:
        np.lib.format.write_array(f, np.arange(6, dtype="f4").reshape(2, 3), version=version)

x = np.arange(12, dtype="f8").reshape(4, 3) / 16
np.savez("stored.npz", x_train=x, y_train=np.array([0, 1, 2, 1]), x_test=x[:2], y_test=np.array([2, 0]))
np.savez_compressed("packed.npz", x=x, y=np.array([0, 1, 2, 1]))

frame = pd.DataFrame({
    "flag": [True, False, True], "count": np.array([0, 1, 1], dtype="i8"), "byte": np.array([1, 0, 1], dtype="u1"),
    "half": np.array([0.5, 0.25, 1], dtype="f4"), "double": [0.125, 0.75, 0], "label": [2, 0, 1],
})
for codec in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]:
    frame.to_parquet(f"{codec}.parquet", compression=None if codec == "none" else codec, index=False)
table = pa.Table.from_pandas(frame, preserve_index=False)
pq.write_table(table, "groups.parquet", row_group_size=1)
pq.write_table(table, "pages2.parquet", data_page_version="2.0", use_dictionary=False)
pq.write_table(table, "deltas.parquet", use_dictionary=False, column_encoding={
    "count": "DELTA_BINARY_PACKED", "half": "BYTE_STREAM_SPLIT", "double": "BYTE_STREAM_SPLIT"})
pq.write_table(pa.table({"a": pa.array([0.5, None]), "label": [0, 1]}), "missing.parquet")
pq.write_table(pa.table({"colour": ["red", "blue"], "label": [0, 1]}), "text.parquet")
pq.write_table(pa.table({"list": [[1, 2], [3, 4]], "label": [0, 1]}), "nested.parquet")
money = pa.array([decimal.Decimal("1.25"), decimal.Decimal("0.5")], pa.decimal128(5, 2))
pq.write_table(pa.table({"money": money, "label": [0, 1]}), "decimal.parquet", store_decimal_as_integer=True)
pq.write_table(pa.table({"day": pa.array([1, 2], pa.date32()), "label": [0, 1]}), "date.parquet")
