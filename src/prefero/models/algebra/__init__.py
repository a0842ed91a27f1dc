"""Linear algebra of low-rank Gaussians, and of matrices with very many rows."""
