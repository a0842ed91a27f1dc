"""Readers of public sets of people's judgements, one module for each kind of file."""
