"""Rows -> answers: attempts, spaces, geometry. Nothing here raises on any JSON value."""
