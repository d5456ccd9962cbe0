"""Policy Arena: plays code policies against each other and keeps every match."""
