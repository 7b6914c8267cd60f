"""What operations of the tiers cost, in turns with the stores of LangGraph."""
