"""What the console says about effects and cases: pure functions from facts to words, without Django or a database."""
