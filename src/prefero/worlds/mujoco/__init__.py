"""What the worlds need of MuJoCo."""
