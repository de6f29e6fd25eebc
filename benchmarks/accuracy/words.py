"""What AUTO.md says besides its numbers: on which tables the design was chosen, and why some of them are lost."""

from __future__ import annotations

# The tables on which the design of AutoBayes was chosen; so were all tables of at most 700 rows.
CHOSEN_ON = {
    *("adult", "anneal", "audiology", "autos", "balance-scale", "car", "cmc", "credit-g", "cylinder-bands"),
    *("dermatology", "diabetes", "echocardiogram", "ecoli", "heart-c", "hypothyroid", "ionosphere", "krkopt"),
    *("led24", "nursery", "page-blocks", "pendigits", "phishing", "primary-tumor", "tae", "vertebral-3c"),
    *("waveform-5000", "wine"),
}
SMALL = 700

INTRO = """# AutoBayes beside the peers

Made by `python -m benchmarks.accuracy run SIDE fresh` for the sides auto, thorough, stopped, catboost-stopped, forests
and ebm, and `… write-auto`, on the tables of [ACCURACY.md](ACCURACY.md): stratified thirds of seed 300, on which
nothing was ever chosen; everything is learned inside the fold, on one thread, on a busy machine. The packages of the
peers are the dependency group `accuracy`. Each peer is compared on the folds that both have, so that *ours* differs a
little from line to line; the column *folds* says how many these are, and the last section but one what was not run. ECE
is the calibration error in ten bins. A win is a table on which ours is smaller in the mean, a tie is half; p is that of
Wilcoxon's signed-rank test over the tables, by log-loss. CPU is one fit and prediction of a fold; *ratio* is the
peer's time by ours.

Trees and boosters get categories as codes. With early stopping, a tenth of the rows says after how many of up to 2,000
rounds to stop; 200 seconds of CPU a fold are the most. 'oob temperature' is RandomForest with P(c | x) raised to the
power that has the least log-loss out of the bag. EBM is the explainable boosting machine of InterpretML.

How boosted trees are grown (`effort="thorough"`) was chosen on one fold of seed 900 of eleven of these tables (car,
kr-vs-kp, page-blocks, optdigits, mushroom, phishing, nursery, letter, poker-hand-train, krkopt, adult), and looked at
on connect-4 and waveform-5000.
"""

# Why the best peer is more than three points ahead there.
WHY = {
    "sponge": ("76 rows, of which 70 are of one class: a fold is 25 rows, so that one row more or less is four points"),
    "spect": (
        "the chance of three folds of 267 rows, of which 79 % are of one class: over all 15 folds ours has 17.5 % (the "
        "peer was run on these three)"
    ),
    "lung-cancer": ("32 rows with 56 columns: a fold is ten rows, and one row is three points"),
    "tae": (
        "151 rows of which 106 are different, with codes of a person and a course as numbers: trees grown "
        "to single rows remember the repeated ones, bins of equal frequency do not"
    ),
    "primary-tumor": (
        "the chance of three folds of 339 rows with 21 classes: over all 15 folds ours has 51.8 % and "
        "LogisticRegression 50.8 %"
    ),
    "monks-2-train": (
        "the rule is 'exactly two of six columns have their first value': no column and no pair tells "
        "anything about the class, and 112 rows are too few for the covariances of 11 indicators (with 288 rows of "
        "monks-2 the error is 2.5 %)"
    ),
    "echocardiogram": (
        "131 rows: one row more or less in each fold is 2.3 points; the forest has the greater log-loss"
    ),
    "car": (
        "a rule without noise over six columns of three or four values: boosting adds up to it exactly; "
        "structures from half of the rows and back-off keep some doubt (supposed, not shown)"
    ),
    "krkopt": (
        "a rule of distances on a chess board: the boosters get codes whose order is that of the board, "
        "our levels of text have no order"
    ),
    "connect-4": (
        "42 squares that matter in groups of four and more: three parents, and trees whose structure "
        "comes from 20,000 rows, do not hold them"
    ),
    "poker-hand-train": ("the class counts equal ranks and suits over five cards: no three columns hold it"),
    "arrhythmia": (
        "279 columns, 452 rows and 13 classes, of which five have fewer than 10 rows; boosting, which "
        "takes one column at a time, seems to find the few that matter (supposed, not shown)"
    ),
}
