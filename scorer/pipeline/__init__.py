"""A score, stage by stage: read, validate, convert, judge, aggregate."""
