"""Where and when questions are computed: in the server or in workers, ahead of the answers."""
