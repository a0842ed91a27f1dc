"""The paper's experiments, one file per figure or table; `prefero reproduce` runs them."""
