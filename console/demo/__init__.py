"""The Sundry demo: a shop with tools, its buyers and their story, and its policy."""
