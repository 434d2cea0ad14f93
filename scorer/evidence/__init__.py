"""What is computed from finished reports: comparisons, figures of category trees, diagnoses."""
