"""Pictures of worlds and of what was learned, with matplotlib."""
