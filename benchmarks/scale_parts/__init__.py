"""The parts of the benchmark of scale: files and workers, databases, scoring by SQL, memory."""
