"""What one answer says: its probability, and the factors of expectation propagation."""
