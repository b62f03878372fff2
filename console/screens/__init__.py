"""The screens: `desk` is the one that matters, the others open above it."""
