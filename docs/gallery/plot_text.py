"""
The words that speak for a class
================================

A text classifier learned from a few lines: which words speak for a class, and how a text is read word by word.
"""

# %%
# Twelve headlines of three sections.
import matplotlib.pyplot as plt

from bayeskit import TextClassifier, plot

HEADLINES = {
    "sport": [
        "late goal wins the match",
        "coach praises the young team",
        "record crowd at the final",
        "team loses match after late goal",
    ],
    "science": [
        "new planet found by telescope",
        "cells repair themselves, study finds",
        "telescope sees young galaxy",
        "study of ancient cells",
    ],
    "business": [
        "bank raises rates again",
        "shares fall after record loss",
        "new rates worry small firms",
        "bank shares rise on strong study",
    ],
}
texts = [text for section in HEADLINES.values() for text in section]
labels = [name for name, section in HEADLINES.items() for _ in section]
model = TextClassifier().fit(texts, labels)

# %%
# How far each word lifts a class above the mean of all classes.
figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained", sharex=True)
for ax, name in zip(axes, model.classes_, strict=True):
    words, weights = zip(*reversed(model.top_words(name, 6)), strict=True)
    ax.barh(words, weights, color="#0072b2")
    ax.set_title(name)
    ax.spines[["top", "right"]].set_visible(False)
axes[1].set_xlabel("log P(word | class) above the mean of the classes")

# %%
# One headline, word by word: the prior, then the weight of evidence of each word.
found = model.explain("young team praises telescope study")
print(found.marked())
plot.waterfall(found.by_word())
plt.show()
