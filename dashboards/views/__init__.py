"""One module a page; each has a `show` that draws it."""
