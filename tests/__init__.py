"""A package, so that pytest does not put this folder on the path.

Its folders would be found in place of packages that are not installed, as Dask's `distributed`.
"""
