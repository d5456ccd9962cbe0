"""Tournaments: who takes part, the final with seeds of its own, and a certificate of it.

A certificate can be checked without the home that it came from (`arena verify`).  So everything
that it says but the matches themselves is a pure function of the rest of it: the same functions
write it and check it.
"""
