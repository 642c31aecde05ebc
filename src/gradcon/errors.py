"""The one exception for a user's mistake: its text is a sentence that says what is wrong, where, and what to do."""


class InputError(ValueError):
    """An input that cannot be used; the command line prints its text and exits with code 2."""
