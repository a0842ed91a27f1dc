"""Distributions over rewards: one Gaussian, and mixtures of them."""
