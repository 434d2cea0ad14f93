"""Ground truth: where it is looked for, how it is loaded, how it is downloaded."""
