"""Teaching sessions and studies with many participants: protocols, sessions, storage and reports."""
