"""How arguments are read and validated, before the core gets them."""
