"""Pictures of posteriors, decisions and tables: arrays in, matplotlib Axes out."""
