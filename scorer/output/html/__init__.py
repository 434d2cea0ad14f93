"""The HTML report: verdicts and screenshots -> one page that opens from disk. An extra; ``score`` loads none of it."""
