"""`prefero` and `python -m prefero`: the command line, or one line that says what it needs."""

import sys

from prefero.extras import MissingExtra, need


def main() -> None:
    """Run the command line; errors that a user can mend end in one line and exit code 2."""
    try:
        need("typer", extra="cli")
        need("rich", extra="cli")
        from prefero.cli import app

        app()
    except (MissingExtra, ValueError, OSError) as error:
        print(f"prefero: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
