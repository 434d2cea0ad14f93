"""What a model is asked and what it answers: requests, and the answer in a reply."""
