"""One file a revision, each frozen once it is released."""
