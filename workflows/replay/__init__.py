"""History told again. Nothing in here can reach a tool; an import contract says so."""
