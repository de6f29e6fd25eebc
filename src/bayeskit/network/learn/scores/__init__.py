"""Structure scores, one file per score; a file here is found by itself."""
