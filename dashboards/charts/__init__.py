"""Pictures of numbers, from the library's values; nothing here reads a home or draws a page."""
