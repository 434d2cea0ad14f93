"""What a leaderboard takes and what it shows: bundles, their verification, the board."""
