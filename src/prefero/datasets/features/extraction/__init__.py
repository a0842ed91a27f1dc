"""From the episodes of a dataset to a table of features, with the options of it."""
