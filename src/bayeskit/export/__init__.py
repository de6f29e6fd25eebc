"""A model as a program of another engine: SQL that scores a table inside the database, and ONNX."""
