"""The run folder: a detail per task, and the two files that are made of them."""
