"""Speed and accuracy, measured: each module prints a table, `python -m benchmarks` lists and runs them."""
