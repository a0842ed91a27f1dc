"""What leaves a study and comes back: exported files, the checks of an import, and preference pairs."""
