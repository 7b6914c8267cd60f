"""What every store in SQL does, written once; a database adds its own port."""
