"""Hypothesis draws the same examples on every run, and a slow machine fails nothing."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("carat", derandomize=True, deadline=None)
settings.load_profile("carat")
