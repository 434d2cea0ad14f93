"""The command line: options to calls, results to text and exit statuses."""
