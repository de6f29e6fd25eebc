"""C files of models, compiled by the C compiler of this machine."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

compiler = shutil.which("cc")
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Werror", "-O1", "-shared", "-fPIC")


class Cell(ctypes.Structure):
    _fields_ = (("text", ctypes.c_char_p), ("number", ctypes.c_double))


class Program:
    """A compiled model; `predict` gives labels and probabilities of a table."""

    def __init__(self, source, folder):
        path = Path(folder) / "model.c"
        path.write_text(source)
        library = path.with_suffix(".so")
        subprocess.run([compiler, *STRICT, str(path), "-o", str(library), "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.bayeskit_predict.argtypes = [ctypes.POINTER(Cell), ctypes.POINTER(ctypes.c_double)]

    def predict(self, model, rows):
        columns = [rows[name].to_pylist() for name in model.schema_.names]
        n_classes = len(model.classes_)
        labels, found = [], np.empty((rows.num_rows, n_classes))
        for i, row in enumerate(zip(*columns, strict=True)):
            cells = (Cell * len(row))(*(self.cell(value) for value in row))
            answer = (ctypes.c_double * n_classes)()
            labels.append(self.library.bayeskit_predict(cells, answer))
            found[i] = list(answer)
        return labels, found

    @staticmethod
    def cell(value):
        if isinstance(value, str):
            return Cell(value.encode(), 0.0)
        return Cell(None, float("nan") if value is None else float(value))
