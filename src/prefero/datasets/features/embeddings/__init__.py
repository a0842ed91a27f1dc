"""Features that are fitted on the episodes: statistics, principal components, networks, steps."""
