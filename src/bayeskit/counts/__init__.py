"""Codes → sufficient statistics that add and subtract."""
