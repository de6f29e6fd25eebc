"""What is public is what the list says: a change of it is seen."""

from public.names import PLACE, listed


def test_public_names_and_signatures_are_those_of_the_list():
    # If the change is meant: `python tests/public/names.py`, and a line in the changelog.
    assert listed().splitlines() == PLACE.read_text(encoding="utf-8").splitlines()
