"""The console at the size it is promised for: a ledger of millions, and what each page takes of it. See README.md."""
