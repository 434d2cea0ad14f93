"""The HTML report: reports and screenshots -> one page that opens from disk. Optional: a plain score never loads it."""
