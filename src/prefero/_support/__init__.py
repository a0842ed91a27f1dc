"""What every package uses: arrays, files, optional packages, progress bars and what differs by system."""
