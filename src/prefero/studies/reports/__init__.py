"""What a study shows of its answers: summaries for teachers, the progress of participants, and reports."""
