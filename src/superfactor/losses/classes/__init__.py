"""The loss of classes: links, the multinomial likelihood, and its dual side."""
