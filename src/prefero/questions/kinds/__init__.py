"""Kinds of answers, a file for each form of question: what the choices are, and what each of them says."""
