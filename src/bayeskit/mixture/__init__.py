"""Mixtures by EM: k-means, Gaussian mixtures, latent classes; mixed columns and missing cells."""
