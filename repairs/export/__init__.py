"""The rows behind the console's lists as files: for spreadsheets, or raw."""
