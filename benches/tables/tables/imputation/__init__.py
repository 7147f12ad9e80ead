"""Hidden values of tables."""
