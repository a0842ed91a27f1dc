"""Bayesian model averaging: structures of rewards, and the mixture that is fitted to answers."""
