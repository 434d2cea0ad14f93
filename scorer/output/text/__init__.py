"""Reports as text: lines and tables. Strings and plain data only; nothing here writes."""
