"""The server: the page, and what it asks for."""
