"""What the library answers to the exercises: one file per chapter, each exercise a function of no arguments."""
