"""From a table to a model: train, compare, evaluate, predict and report: functions for the command and a page."""
