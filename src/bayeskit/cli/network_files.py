"""Networks on the command line: read from any file that holds one, written to any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork


def read_network(path: Path, normalize: bool = False) -> BayesianNetwork:
    """Read a network file or a model file (.bayes) that holds a network."""
    from bayeskit.network import BayesianNetwork

    if path.suffix != ".bayes":
        return BayesianNetwork.read(path, normalize=normalize)
    from bayeskit.errors import NetworkError
    from bayeskit.io.model_files import load_value

    model = load_value(path)
    if not isinstance(model, BayesianNetwork):
        raise NetworkError(f"{path} holds a {type(model).__name__}; this command needs a network.")
    return model


def write_network(net: BayesianNetwork, path: Path) -> None:
    """Write a network in the format of the path's extension."""
    if path.suffix == ".bayes":
        net.save(path, force=True)  # each command has asked before
    else:
        net.write(path)


def parse_evidence(pairs: list[str]) -> dict[str, str]:
    """Read ``variable=state`` pairs, split at the first equals sign."""
    from bayeskit.errors import NetworkError

    evidence: dict[str, str] = {}
    for pair in pairs:
        name, sign, state = pair.partition("=")
        if not sign or not name.strip() or not state.strip():
            raise NetworkError(f"evidence must have the form variable=state; got {pair!r}.")
        if name.strip() in evidence:
            raise NetworkError(f"{name.strip()!r} is given twice.")
        evidence[name.strip()] = state.strip()
    return evidence


def as_numbers_of(net: BayesianNetwork, given: Any) -> Any:
    """Return evidence with numbers for real variables; a text that is no number is refused by the network."""
    if not net.real or not given:
        return given

    def read(name: str, value: Any) -> Any:
        try:
            return float(value) if name in net.real and isinstance(value, str) else value
        except ValueError:
            return value

    return {name: read(name, value) for name, value in given.items()}
