"""What comes next for a participant: the stage, the question, and the learner that chooses it."""
