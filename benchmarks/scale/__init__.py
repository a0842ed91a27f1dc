"""Very many answers, trajectories and people."""
