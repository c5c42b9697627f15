"""What the package runs with: interpreter, signals, files, linear algebra."""
