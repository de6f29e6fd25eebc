"""Structure searches, one file per method; a file here is found by itself."""
