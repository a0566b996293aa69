"""What people do to cases, one act a file: each checks who and why, calls exactly one engine verb, and leaves a row."""
