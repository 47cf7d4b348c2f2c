"""The words of the page that a biostatistician may not use every day."""

from __future__ import annotations

# By what is written in the templates; said on hover, on focus and in a tab of their own.
GLOSSARY = {
    "factor": (
        "A new variable made of the features: every sample has a score on it, a weighted sum of its "
        "features. Features at its high end tend to be higher in samples with a high score, those at its "
        "low end lower."
    ),
    "correlation": (
        "Between a feature and the score of a factor, over the training samples: from −1 to 1, 0 is none. "
        "It says what goes with the factor."
    ),
    "weight": (
        "What a feature is multiplied by where the score of a factor is computed. A weight may be large "
        "because it cancels noise in another feature, and small although the feature goes with the "
        "factor: the correlation says what goes with it."
    ),
    "predictive factor": (
        "A factor that the prediction would miss: at least 1 % of what all factors explain of the classes "
        "is lost without it, in samples not seen where those were looked at, else in the training samples."
    ),
    "background factor": (
        "A factor that adds nothing, or less than 1 %, to the prediction beside the predictive ones. It "
        "describes what else varies among the samples, such as batch, tissue or quality, and may still "
        "differ between the classes: the AUC of its own says how much."
    ),
    "AUC of its own": (
        "How well the score of one factor alone tells a class from the rest: the probability that a sample "
        "of the class has a higher score than another one; 0.5 is guessing, 1 perfect. Of a background "
        "factor it is never below 0.5, for its direction has no meaning."
    ),
    "lost without it": (
        "The share of the deviance explained by all factors that is lost without this one, judged by "
        "samples not seen where that shows anything, else by the training samples. The shares of several "
        "factors need not add up to 100 %; below 0 the prediction is better without the factor."
    ),
    "out of fold": (
        "By a model that was fitted without the sample. The samples are divided into parts, and each part "
        "gets its scores from a fit to the others, with the same rank and weights, turned as near as can "
        "be to the factors that are shown."
    ),
    "returns": (
        "The share of refits to parts of the samples in which a feature is again among the top features of "
        "the same end of the same factor. Parts share most of their samples, so that features return also "
        "where labels are shuffled: compare with that."
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
        "The size of the cosine between the correlations of two factors with all features: 1 is the same "
        "factor, 0 nothing in common."
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
        "What one standard deviation more of a factor's score adds to the log-odds of a class. With several "
        "classes, to the logarithm of its probability against the average over all classes."
    ),
    "odds ratio": "By how much the odds of a class are multiplied: 1 is no effect.",
    "q": (
        "Benjamini and Hochberg's: of all features with a q of at most 0.05, about 5 % or less differ by "
        "chance alone. It comes from the p of each feature by itself (Mann and Whitney's test)."
    ),
    "log-odds per s.d.": (
        "What one standard deviation more of a feature adds to the log-odds of a class (of several, against "
        "the mean of all) while all other features stay the same. It says what the prediction is computed "
        "from, not what goes with the class: of features that are alike each gets a part."
    ),
    "stable features": (
        "Complementary pairs (Shah and Samworth 2013): how many features fits to two disjoint halves of the "
        "samples would pick again and again by chance has a bound. It assumes that the shares of pairs in "
        "which both halves pick a feature have a distribution with one peak."
    ),
    "nearness": (
        "The cosine between the weights of the features in the prediction and those in ridge regression on "
        "all features: near 1 both predict by the same, and what the factors add is a description. The "
        "variance is beside that of as many principal components, which no other factors exceed."
    ),
    "block": (
        "One of several tables of the same samples, such as expression and blood values, side by side. Each "
        "is multiplied by one number, so that a table with many columns does not drown one with few."
    ),
    "confounder": (
        "Something known of the samples that should have no part in the factors, such as the batch. What a "
        "linear regression on it explains of each feature in the training samples is subtracted."
    ),
    "share of variance": (
        "The part of all variation of the features that goes with the score of a factor, in the training "
        "samples."
    ),
    "95 % ellipse": (
        "Where 95 % of new samples of a class would lie, judged by samples not seen, if scores were "
        "normally distributed within a class."
    ),
    "plain SVD": (
        "Singular value decomposition, as in principal components: factors found without the labels."
    ),
}
