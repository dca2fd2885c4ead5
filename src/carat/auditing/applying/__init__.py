"""From findings to a clean table: what was decided, done in a copy of the table, and nothing else."""
