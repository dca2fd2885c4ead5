"""Excel workbooks (`.xlsx`): cells as the text that a person sees, and texts as cells that no program runs.

Values are read by python-calamine. What it does not tell (errors, leading zeros, formulas without a value) is read from
the sheet's own XML, which is also where single cells are changed.
"""
