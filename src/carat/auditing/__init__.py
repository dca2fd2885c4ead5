"""Audit: which cells of a table are wrong, and what should be there, learned from nothing but the table itself."""
