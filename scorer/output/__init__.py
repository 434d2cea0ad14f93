"""Reports for people and for programs: text, JSON data, an HTML page, run folders, and the schemas of all files."""
