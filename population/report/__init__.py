"""The report of a run: facts from what is stored, drawn as one HTML page or written as CSV."""
