"""The run folder: one file per task, and the two files that are computed from them."""
