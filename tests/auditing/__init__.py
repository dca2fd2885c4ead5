"""Tests of carat.auditing."""
