"""From answers to a posterior over rewards."""
