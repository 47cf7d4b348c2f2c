"""Features: their relation to outcome and model, markers of classes, and stable features.

=================== ==================================================================
file                idea
=================== ==================================================================
``effects``         relation of each feature to the outcome and to the model
``class_features``  markers of each class
``stable_features`` features that fits to disjoint halves select repeatedly
``complementary``   disjoint halves, and the expected number of chance selections
``markers``         notes of the user on known features
=================== ==================================================================
"""
