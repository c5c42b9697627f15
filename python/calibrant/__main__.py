"""`python -m calibrant` is the same as `calibrant`."""

from calibrant.cli import main

if __name__ == "__main__":
    main()
