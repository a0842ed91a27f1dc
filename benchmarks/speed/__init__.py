"""How long fitting, asking and answering take."""
