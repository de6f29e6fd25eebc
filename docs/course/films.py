"""One picture that moves for each chapter of the course: ``python docs/course/films.py FOLDER`` writes them.

The library computes what they show. They carry numbers and formulas instead of words, so that both languages have the
same file. Each function below returns what draws step k, and how many steps there are.
"""

import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np

from bayeskit import (
    TAN,
    AutoBayes,
    BayesianNetwork,
    BruteForceMAP,
    DynamicNetwork,
    GaussianMixture,
    MDLTree,
    NaiveBayes,
    SigmoidUnit,
    TextClassifier,
    datasets,
    plot,
)
from bayeskit.decide.risk import realised_loss, risk
from bayeskit.estimate.discrete import laplace

BLUE, RED, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#bbbbbb"


def bars(ax, names, values, title, colors=(BLUE, RED, GREEN)):
    """Draw probabilities as bars with their numbers."""
    shown = ax.bar(range(len(names)), values, color=[colors[k % len(colors)] for k in range(len(names))], width=0.6)
    ax.bar_label(shown, [f"{value:.3f}" for value in values])
    ax.set_xticks(range(len(names)), names)
    ax.set(ylim=(0, 1.08), title=title)


def chapter_01():
    """P(cancer) after one positive test, then another: Mitchell's numbers."""
    posteriors = [np.array([0.008, 0.992])]
    for _ in range(4):
        joint = posteriors[-1] * [0.98, 0.03]
        posteriors.append(joint / joint.sum())
    return lambda ax, k: bars(ax, ["P(cancer | +…)", "P(¬cancer | +…)"], posteriors[k], "+ " * k or "P(h)"), 5


def chapter_02():
    """R(a | x) of two actions as the cost of a miss grows: the border moves to the left."""
    p = np.linspace(0, 1, 201)
    misses = [1, 2, 3, 5, 10, 20]

    def draw(ax, k):
        risks = risk(np.column_stack([1 - p, p]), np.array([[0.0, 1.0], [misses[k], 0.0]]))
        ax.plot(p, risks[:, 0], color=RED, label=f"$R(a_1 | x) = {misses[k]} \\cdot P(c_2 | x)$")
        ax.plot(p, risks[:, 1], color=BLUE, label="$R(a_2 | x) = 1 \\cdot P(c_1 | x)$")
        ax.axvline(1 / (1 + misses[k]), color=GREY, linestyle=":")
        ax.fill_between(p, risks.min(axis=1), color=GREY, alpha=0.4)
        ax.set(ylim=(0, 2), xlabel="$P(c_2 | x)$", title=f"$P^* = 1 / {1 + misses[k]}$")
        ax.legend(loc="upper right", frameon=False)

    return draw, len(misses)


def chapter_03():
    """The Bayesian estimate of the colours of good melons goes from the shares to 1 / 3 as λ grows."""
    melons = datasets.load_watermelon()
    colors = [color for color, good in zip(melons["色泽"], melons["好瓜"], strict=True) if good == "是"]
    names = sorted(set(melons["色泽"]))
    counts = np.array([colors.count(name) for name in names])
    strengths = [0, 0.25, 1, 3, 10, 100]

    def draw(ax, k):
        bars(ax, names, laplace(counts, smoothing=strengths[k]), f"λ = {strengths[k]}")
        ax.axhline(1 / 3, color=GREY, linestyle=":")

    return draw, len(strengths)


def chapter_04():
    """The log-odds of a good melon, one attribute after the other."""
    melons = datasets.load_watermelon()
    model = NaiveBayes(smoothing=1, variance="ml").fit(melons, target="好瓜")
    melon = {name: column[0] for name, column in melons.items() if name != "好瓜"}
    names = list(melon)
    known = [{name: melon[name] if name in names[:k] else None for name in names} for k in range(len(names) + 1)]
    log_odds = [float(np.diff(model.predict_log_proba([row])[0])[0]) for row in known]

    def draw(ax, k):
        ax.barh(range(k + 1), log_odds[: k + 1], color=[BLUE if odds > 0 else RED for odds in log_odds[: k + 1]])
        ax.set_yticks(range(len(names) + 1), ["P(c)", *names])
        ax.set(ylim=(len(names) + 0.6, -0.6), xlim=(-1, 7), xlabel="log P(是 | x) / P(否 | x)")
        ax.set_title(f"P(是 | x) = {1 / (1 + np.exp(-log_odds[k])):.3f}")

    return draw, len(names) + 1


def chapter_05():
    """The tree of TAN grows edge by edge."""
    melons = {name: column for name, column in datasets.load_watermelon().items() if name not in ("密度", "含糖率")}
    model = TAN(smoothing=1).fit(melons, target="好瓜")
    names = list(model.schema_.names)
    angles = 2 * np.pi * np.arange(len(names)) / len(names)
    places = dict(zip(names, zip(np.cos(angles), np.sin(angles), strict=True), strict=True))
    edges = [step for step in model.steps_ if step.parent is not None]

    def draw(ax, k):
        for step in edges[:k]:
            (x0, y0), (x1, y1) = places[step.parent], places[step.feature]
            newest = step is edges[k - 1]
            arrow = {"arrowstyle": "->", "color": RED if newest else BLUE, "lw": 8 * step.information, "shrinkB": 16}
            ax.annotate("", (x1, y1), (x0, y0), arrowprops=arrow)
        for name, (x, y) in places.items():
            ax.text(x, y, name, ha="center", va="center", bbox={"boxstyle": "round", "facecolor": "white"})
        title = (
            "" if k == 0 else f"I({edges[k - 1].parent}; {edges[k - 1].feature} | y) = {edges[k - 1].information:.3f}"
        )
        ax.set(xlim=(-1.4, 1.4), ylim=(-1.3, 1.3), title=title)
        ax.set_axis_off()

    return draw, len(edges) + 1


def chapter_06():
    """The logistic curve, step by step of plain gradient ascent."""
    x, labels = np.array([-3.0, -2, -1, 1, 2, 3]), np.array([0, 0, 1, 0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the steps are counted, not walked to the end
        unit = SigmoidUnit(standardize=False, learning_rate=0.05, max_iter=40).fit({"x": x}, labels, record=True)
    every = unit.histories_[0].steps
    steps = [every[k] for k in np.unique(np.geomspace(1, len(every), 8).astype(int) - 1)]
    grid = np.linspace(-4, 4, 200)

    def draw(ax, k):
        w, b = steps[k].parameters
        ax.plot(grid, 1 / (1 + np.exp(-(w * grid + b))), color=BLUE)
        ax.scatter(x, labels, color=RED, zorder=3)
        ax.set(xlabel="x", ylabel="P(y = 1 | x)", title=f"k = {steps[k].number}:  w = {w:.3f}, b = {b:.3f}")

    return draw, len(steps)


def chapter_07():
    """Beliefs over the 973 hypotheses as examples come; the six that survive share the whole."""
    learner = BruteForceMAP().fit(datasets.load_enjoy_sport(declared=True), target="enjoy", record=True)
    beliefs = [np.asarray(step.posterior) for step in learner.steps_]

    def draw(ax, k):
        alive = int((beliefs[k] > 0).sum())
        ax.vlines(np.arange(len(beliefs[k])), 0, beliefs[k], color=BLUE, linewidth=1.5)
        ax.set(ylim=(0, 0.2), xlabel="h", ylabel="P(h | D)", title=f"|D| = {k}:  |VS| = {alive},  P = 1/{alive}")

    return draw, len(beliefs)


def chapter_08():
    """The length of a tree and of the labels given the tree, cut by cut."""
    cuts = MDLTree().fit(datasets.load_heart(), target="disease").cuts_
    tree = np.array([cuts[0].tree_bits_before, *(cut.tree_bits_after for cut in cuts)])
    labels = np.array([cuts[0].data_bits_before, *(cut.data_bits_after for cut in cuts)])
    shown = np.unique(np.linspace(0, len(tree) - 1, 12).astype(int))

    def draw(ax, k):
        end = shown[k] + 1
        ax.stackplot(
            np.arange(end), labels[:end], tree[:end], colors=[RED, BLUE], alpha=0.7, labels=["L(D | h)", "L(h)"]
        )
        ax.set(xlim=(0, len(tree) - 1), ylim=(0, 1.05 * (tree + labels).max()), ylabel="bit")
        ax.set_title(f"L(h) + L(D | h) = {tree[end - 1] + labels[end - 1]:.1f} bit")
        ax.legend(loc="lower left", frameon=False)

    return draw, len(shown)


def chapter_09():
    """The error of Gibbs as hypotheses are drawn anew, beside that of the optimal answer and its double."""
    chance = np.array([0.9, 0.8, 0.7, 0.6])  # P(the likelier class) of four kinds of row
    optimal, expected = float((1 - chance).mean()), float((2 * chance * (1 - chance)).mean())
    rng = np.random.default_rng(0)
    row = rng.integers(0, 4, 4000)
    wrong = (rng.random(4000) < chance[row]) != (rng.random(4000) < chance[row])
    mean = wrong.cumsum() / np.arange(1, 4001)
    ends = [20, 50, 100, 200, 500, 1000, 2000, 4000]

    def draw(ax, k):
        ax.plot(np.arange(1, ends[k] + 1), mean[: ends[k]], color=BLUE)
        for error, name in ((optimal, "R*"), (expected, "Gibbs"), (2 * optimal, "2 R*")):
            ax.axhline(error, color=GREY, linestyle=":")
            ax.text(4000, error, name, ha="right", va="bottom")
        ax.set(
            xscale="log", xlim=(10, 4000), ylim=(0, 0.7), xlabel="n", title=f"n = {ends[k]}: {mean[ends[k] - 1]:.3f}"
        )

    return draw, len(ends)


def chapter_10():
    """A sentence is read word by word."""
    texts = ["good good film", "good plot", "bad plot", "bad bad end"]
    model = TextClassifier(smoothing=1, calibrate=False).fit(texts, ["+", "+", "-", "-"])
    words = ["the", "good", "film", "had", "a", "bad", "end", "and", "a", "good", "plot"]
    p = [model.predict_proba([" ".join(words[:k])])[0, list(model.classes_).index("+")] for k in range(len(words) + 1)]

    def draw(ax, k):
        ax.plot(range(k + 1), p[: k + 1], marker="o", color=BLUE)
        ax.axhline(0.5, color=GREY, linestyle=":")
        ax.set_xticks(range(len(words) + 1), ["", *words], rotation=30)
        ax.set(xlim=(-0.4, len(words) + 0.4), ylim=(0, 1), ylabel="P(+ | x)", title=" ".join(words[:k]))

    return draw, len(words) + 1


def chapter_11():
    """Explaining away: what is known of a patient changes what is believed of each disease."""
    asia = datasets.load_asia()
    cases = [{}, {"xray": "yes"}, {"xray": "yes", "dysp": "yes"}, {"xray": "yes", "dysp": "yes", "tub": "yes"}]
    asked = ["smoke", "lung", "tub", "bronc"]

    def draw(ax, k):
        known = cases[k]
        beliefs = [float(known[v] == "yes") if v in known else asia.posterior(v, given=known)["yes"] for v in asked]
        bars(ax, asked, beliefs, ", ".join(f"{name} = {state}" for name, state in known.items()) or "P(x)")

    return draw, len(cases)


def chapter_12():
    """A table of a network with a hidden parent, learned by EM."""
    tables = {"h": [0.6, 0.4], "x": [[0.7, 0.3], [0.2, 0.8]], "y": [[0.8, 0.2], [0.3, 0.7]]}
    net = BayesianNetwork("h->x; h->y", tables=tables)
    rows = {"x": ["yes", "yes", "no", "no", "yes", "no"], "y": ["yes", "yes", "no", "no", "no", "no"]}
    steps = net.fitted(rows, smoothing=0, missing="em", start="tables", record=True).history.steps
    shown = [k for k in (0, 1, 2, 3, 5, 8, 12, 20) if k < len(steps)]

    def draw(ax, k):
        past = shown[k] + 1
        ax.plot([step.objective for step in steps[:past]], marker="o", color=BLUE)
        top = max(step.objective for step in steps[: shown[-1] + 1])
        ax.set(xlim=(-0.5, shown[-1] + 0.5), ylim=(steps[0].objective - 0.01, top + 0.01), xlabel="EM")
        ax.set(ylabel="log P(D | θ)", title=f"k = {steps[shown[k]].number}: {steps[shown[k]].objective:.4f}")

    return draw, len(shown)


def chapter_13():
    """EM moves the means of two normal distributions to their rows."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(0, 1, 40), rng.normal(5, 1, 60)])[:, None]
    mixture = GaussianMixture(2, covariance="fixed", sigma=1, init=[[-2.0], [-1.0]])
    steps = mixture.fit(x, record=True).steps(x)
    grid = np.linspace(-4, 9, 300)

    def draw(ax, k):
        means = steps[k].parameters["means"].ravel()
        ax.hist(x.ravel(), 30, density=True, color="#dddddd")
        for mean, color in zip(means, (BLUE, RED), strict=True):
            ax.plot(grid, np.exp(-0.5 * (grid - mean) ** 2) / 2 / np.sqrt(2 * np.pi), color=color)
            ax.axvline(mean, color=color, linestyle=":")
        ax.set(ylim=(0, 0.36), xlabel="x", title=f"k = {k}:  μ = {means[0]:.2f}, {means[1]:.2f}")

    return draw, len(steps)


def chapter_14():
    """The world of rain and umbrellas, day by day: the filter, and the smoother that looks back."""
    tables = {
        "rain[0]": [0.5, 0.5],
        "rain[t]": [[0.7, 0.3], [0.3, 0.7]],
        "umbrella[t]": [[0.8, 0.2], [0.1, 0.9]],
    }
    net = DynamicNetwork("rain[t-1]->rain[t]; rain[t]->umbrella[t]", tables=tables)
    seen = ["yes", "yes", "no", "yes", "yes", "no", "no", "no"]

    def draw(ax, k):
        rows = {"umbrella": seen[: k + 1]}
        ax.plot(net.smooth(rows).of("rain", "yes"), marker="s", color=RED, label="$P(r_t | u_{1:T})$")
        ax.plot(net.filter(rows).of("rain", "yes"), marker="o", color=BLUE, label="$P(r_t | u_{1:t})$")
        ax.set_xticks(range(len(seen)), ["☂" if state == "yes" else "·" for state in seen])
        ax.set(xlim=(-0.5, len(seen) - 0.5), ylim=(0, 1.05), title=f"T = {k + 1}")
        ax.legend(loc="lower left", frameon=False)

    return draw, len(seen)


def chapter_15():
    """What a rule costs per patient as its threshold moves; the minimum is near 1 / 11, as the costs say."""
    heart = datasets.load_heart()
    train = {name: column[::2] for name, column in heart.items()}
    held_out = {name: column[1::2] for name, column in heart.items()}
    model = AutoBayes().fit(train, target="disease")
    p = model.predict_proba(held_out)[:, list(model.classes_).index("yes")]
    truth = np.array([label == "yes" for label in held_out["disease"]], dtype=int)
    costs = np.array([[0.0, 1.0], [10.0, 0.0]])
    cuts = np.array([0.02, 0.05, 1 / 11, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    paid = [realised_loss(truth, (p > cut).astype(int), costs).mean() for cut in cuts]

    def draw(ax, k):
        ax.plot(cuts[: k + 1], paid[: k + 1], marker="o", color=BLUE)
        ax.axvline(1 / 11, color=GREY, linestyle=":")
        ax.set(
            xlim=(0, 1), ylim=(0, 1.1 * max(paid)), xlabel="P*", ylabel="λ", title=f"P* = {cuts[k]:.2f}: {paid[k]:.3f}"
        )

    return draw, len(cuts)


def write_films(folder):
    """Write the film of each chapter, where it is not there yet."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    mpl.use("Agg")
    for name, chapter in globals().copy().items():
        path = folder / f"{name[-2:]}.gif"
        if name.startswith("chapter_") and not path.exists():
            draw, n_steps = chapter()
            plot.animate(draw, n_steps, path, size=(6.0, 3.4))
            mpl.pyplot.close("all")


if __name__ == "__main__":
    write_films(sys.argv[1])
