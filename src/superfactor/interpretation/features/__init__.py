"""Features: how they go with the outcome and the model, which mark a class, and which can be trusted.

=================== ==================================================================
file                idea
=================== ==================================================================
``effects``         how each feature goes with the outcome, and what the model makes of it
``class_features``  markers of each class
``stable_features`` features that fits to disjoint halves pick again and again
``complementary``   such halves, and how many features both would pick by chance
``markers``         notes on features a user knows already
=================== ==================================================================
"""
