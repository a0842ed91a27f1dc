"""Several people: what they share, what is each one's own, and how each of them answers."""
