"""What a score is worth beside its number: comparison, category trees, diagnosis."""
