"""The parts of the worlds that MuJoCo simulates and renders."""
