"""What was learned, in words and numbers."""
