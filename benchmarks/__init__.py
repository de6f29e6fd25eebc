"""Ours and the peers on the same work in one process run, as a ratio."""
