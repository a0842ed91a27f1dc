"""Rewards while an episode runs, and whether its environment is the one that the reward was taught in."""
