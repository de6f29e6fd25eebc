"""How well the classifiers do on public tables, beside scikit-learn, Khiops, Weka and the published numbers."""
