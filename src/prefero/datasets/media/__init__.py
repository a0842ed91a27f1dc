"""Videos and images of datasets, and the clips cut from them."""
