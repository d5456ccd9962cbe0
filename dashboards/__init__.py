"""Pages over a home: leaderboards, payoffs, policies, replays, runs and submissions."""
