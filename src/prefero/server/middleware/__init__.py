"""What every request passes before it reaches a route, one concern a file."""
