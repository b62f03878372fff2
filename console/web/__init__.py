"""The console in a browser: the server, a session each, and the session's driver."""
