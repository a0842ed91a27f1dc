"""What every package uses: arrays, files, optional packages and progress bars."""
