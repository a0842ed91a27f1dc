"""What all answers say together: expectation propagation, Laplace, and the evidence."""
