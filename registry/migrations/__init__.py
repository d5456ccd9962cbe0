"""Alembic's scripts for the registry, shipped with the package and run when it is opened."""
