"""Parts that are wrong in one way each, for the checks that must find it."""
