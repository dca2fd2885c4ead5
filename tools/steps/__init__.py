"""The pictures of `docs/how.md`: what is measured, and how it is drawn. `tools/draw_steps.py` runs it."""
