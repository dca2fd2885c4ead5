"""`python -m carat` is the command `carat`."""

from carat.cli import main

if __name__ == "__main__":
    main()
