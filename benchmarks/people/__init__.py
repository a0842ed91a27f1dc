"""Real people, and many people at once."""
