"""The records that all folders share, and what needs nothing else: findings, errors, limits, spaces, statistics."""
