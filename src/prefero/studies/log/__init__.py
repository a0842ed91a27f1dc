"""What a participant did: the event log, and signs of carelessness in it."""
