"""The dataset formats Prefero reads, one module or package each."""
