"""A long run over a hostile outside with workers that are killed: ledger and oracle must agree on every effect."""
