"""Training policies: Gymnasium wrappers, the loop of teaching and training, and preference pairs."""
