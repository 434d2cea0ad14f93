"""Reports as people and programs read them: text, JSON, HTML, run folders, schemas."""
