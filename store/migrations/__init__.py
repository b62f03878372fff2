"""The schema's history, brought up to date from code when a store is opened."""
