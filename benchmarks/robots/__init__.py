"""Rewards, episodes and policies of robots."""
