"""The report of a training: its contents, and one HTML file that needs nothing else."""
