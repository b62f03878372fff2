"""What people see and type: commands, screens, and the demo."""
