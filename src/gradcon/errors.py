"""The exceptions whose texts are for the user: a sentence that says what is wrong, where, and what to do."""


class InputError(ValueError):
    """An input that cannot be used; the command line prints its text and exits with code 2."""


class DeviceError(RuntimeError):
    """A GPU that failed; the command line prints its text and exits with code 3."""
