"""From a model endpoint to predictions. This is an extra: ``score`` imports nothing of it.

A run consists of a plan (what is asked), images, a client, a journal (the file of rows) and the loop that joins them.
"""
