"""The figures of the paper and of Prefero's own claims."""
