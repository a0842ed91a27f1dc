"""Features of episodes: the library, embeddings, user functions, and their extraction."""
