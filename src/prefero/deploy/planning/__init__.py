"""The actions with the highest learned reward in a world."""
