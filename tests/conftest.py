"""What every test shares: a PostgreSQL when DATABASE_URL names none."""
