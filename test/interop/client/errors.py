"""The error of this client."""


class Refused(Exception):
    """An error with a sentence for the user."""
