"""The one exception for what a user can mend."""


class UserError(Exception):
    """A user's mistake, told in one line: what was wrong, where (key or file:line), what would be right.

    The scripts print it without a traceback and exit with status 1.
    """
