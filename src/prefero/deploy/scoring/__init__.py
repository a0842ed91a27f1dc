"""What a learned reward says of recorded trajectories: scores and the quality of episodes."""
