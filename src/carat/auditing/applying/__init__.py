"""From findings to a clean table: the changes a person has decided on, made in a copy of the table and in nothing else."""
