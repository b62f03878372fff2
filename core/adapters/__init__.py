"""One outside technology a file, behind the ports of the core."""
