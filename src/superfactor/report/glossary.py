"""The words of the page that a biostatistician may not use every day."""

from __future__ import annotations

# By what is written in the templates; said on hover, on focus and in a tab of their own.
GLOSSARY = {
    "factor": (
        "A weighted combination of features. A sample's value on it is high where the sample has "
        "much of the features at its high end and little of those at its low end."
    ),
    "predictive factor": (
        "A factor that the classifier uses: moving a sample along it changes the predicted "
        "probabilities."
    ),
    "background factor": (
        "A factor that the classifier does not use. It describes variation among the samples that "
        "has nothing to do with the classes, such as batch, tissue or quality."
    ),
    "filter": (
        "The kind of model that predicts from projections: each factor filters the features, and "
        "the classifier reads the results. New samples are treated exactly as training samples "
        "were."
    ),
    "feature": (
        "A column of the table, such as a gene or a probe. The feature model (SMF-H) is the kind of "
        "model that predicts from the factor values that describe a sample's features best."
    ),
    "rank": "The number of factors.",
    "ξ": (
        "Xi, the weight of describing the features against telling the classes apart. Large: close "
        "to plain principal components. Small: close to a classifier."
    ),
    "λ": (
        "Lambda, the ridge penalty: how strongly coefficients are shrunk towards zero, to guard "
        "against overfitting."
    ),
    "similarity": (
        "The size of the cosine between the weights of two factors: 1 is the same factor, 0 nothing "
        "in common."
    ),
    "log-likelihood": (
        "The mean logarithm of the probability given to the true class: 0 is perfect, and more "
        "negative is worse. Log loss is the same with the opposite sign."
    ),
    "log loss": (
        "The mean of −log(probability given to the true class): 0 is perfect, smaller is better. "
        "Confident mistakes cost most."
    ),
    "certificate": (
        "A mathematical proof, made after the fit, of how much better any other factors could fit "
        "the training data. It says nothing about new samples."
    ),
    "balanced accuracy": (
        "The mean over classes of the share of their samples that is recognised. Guessing reaches 1 "
        "divided by the number of classes, however unequal the classes are."
    ),
    "ROC area": (
        "The probability that a sample of a class gets a higher predicted probability of it than a "
        "sample of another class: 0.5 is guessing, 1 perfect. With several classes, the mean of "
        "each against the rest."
    ),
    "calibration": (
        "Whether predicted probabilities mean what they say: of samples given 80 %, about 80 % "
        "should belong to the class. The best slope is 1 (below it, probabilities are too extreme), "
        "the best intercept 0."
    ),
    "Brier score": (
        "The mean squared distance between predicted probabilities and what happened: 0 is perfect, "
        "smaller is better."
    ),
    "nested cross-validation": (
        "Every part of the data is predicted by a model whose fitting and settings never saw it. "
        "Repeated with other divisions into parts, it shows how well the whole procedure does on "
        "new samples."
    ),
    "coefficient": (
        "What one standard deviation more of a factor adds to the log-odds of a class. With several "
        "classes, to the logarithm of its probability against the average over all classes."
    ),
    "odds ratio": "By how much the odds of a class are multiplied: 1 is no effect.",
    "block": (
        "One of several tables of the same samples, such as expression and blood values, side by side. Each "
        "is multiplied by one number, so that a table with many columns does not drown one with few."
    ),
    "confounder": (
        "Something known of the samples that should have no part in the factors, such as the batch. What a "
        "linear regression on it explains of each feature in the training samples is subtracted."
    ),
    "share of variance": "The part of all variation of the features that a factor describes.",
    "95 % ellipse": (
        "Where 95 % of new samples of a class would lie if its values on the two factors were "
        "normally distributed."
    ),
    "plain SVD": (
        "Singular value decomposition, as in principal components: factors found without the "
        "labels."
    ),
}
