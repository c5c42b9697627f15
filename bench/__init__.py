"""calibrant beside its peers: ``python -m bench``, from the root of the repository."""
