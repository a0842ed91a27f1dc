"""What the page gets, as values: the session's state and its stages. Servers and widgets send the same."""
