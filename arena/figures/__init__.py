"""Pictures in HTML and SVG that games and pages share."""
