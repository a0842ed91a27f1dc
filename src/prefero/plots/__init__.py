"""Figures and tables: learning, worlds, user studies. With matplotlib."""
