"""Outcomes -> the report of one benchmark: totals, tables, figures over attempts, and what concerns a whole file."""
