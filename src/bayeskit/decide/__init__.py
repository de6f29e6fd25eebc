"""A posterior and a loss give the decision that costs least. Arrays and names only; no model is known here."""
