"""Submissions to a leaderboard: making a bundle, verifying it, ranking the verified bundles."""
