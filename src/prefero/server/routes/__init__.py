"""The endpoints, by who may call them."""
