"""What happens, step by step, through the ports: one flow a file."""
