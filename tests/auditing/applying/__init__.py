"""Tests of applying decisions."""
