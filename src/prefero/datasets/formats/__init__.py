"""The dataset formats that Prefero reads: one module or package each, with one class that is the format."""
