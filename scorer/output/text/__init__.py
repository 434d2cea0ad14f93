"""Reports as text. Every function returns strings; none of them writes."""
