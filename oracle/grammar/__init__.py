"""A grammar of readable policies: the oracle that needs no model."""
