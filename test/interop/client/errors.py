"""The error of this client."""


class Refused(Exception):
    """Says what is wrong, in a sentence for people."""
