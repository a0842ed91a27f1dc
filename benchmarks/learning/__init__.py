"""How well simulated users are learned from few answers."""
