"""What `advance` is made of: going on, and turning back."""
