"""From a model endpoint to predictions: the other half, an extra. ``score`` imports nothing of it.

A run is a plan (what to ask), images, a client, a journal (the file of rows) and the loop that joins them.
"""
