"""Tables of features: their cache, and what is found in them."""
