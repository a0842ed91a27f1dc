"""Teaching and studies: who is asked what, what they said, and where that is kept."""
