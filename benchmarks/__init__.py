"""How many durable effects a second, next to one-row inserts and two peers on the same server in the same run."""
