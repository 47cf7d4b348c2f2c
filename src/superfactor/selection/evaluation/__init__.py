"""How well a whole procedure predicts, beside simpler methods, and what that means."""
