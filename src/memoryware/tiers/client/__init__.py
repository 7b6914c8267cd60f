"""The operations of the tiers as methods: each a blocking door and an async door to one core."""
