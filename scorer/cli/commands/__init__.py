"""The commands beside ``score`` itself, one module each, imported when it is called: ``score`` loads none of them."""
