"""The fairseq tasks; importing them registers them."""
