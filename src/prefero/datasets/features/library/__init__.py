"""Features of episodes by name: the library of them, and the user's own functions."""
