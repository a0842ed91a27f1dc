"""Using a learned reward: planning, Gymnasium wrappers and exports."""
