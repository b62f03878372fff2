"""The pieces of the screen: each paints what it is given and says what was asked.

`spans` has the painter's words (line, span, role), `line_view` is the one list that
paints them, the rest turn stored records into lines. No piece reads the store or
calls a flow: it posts a message, and its screen acts.
"""
