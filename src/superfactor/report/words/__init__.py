"""How the page says it.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``formats``           names and numbers as text, one function for each kind
``glossary``          words that are explained on hover
``certificate``       the proof of optimality in plain words
``methods``           the paragraph for a paper
===================== ==========================================================================
"""
