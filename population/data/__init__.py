"""Figures that others published, as data; see README.md in this folder for their sources."""
