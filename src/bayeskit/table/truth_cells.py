"""Yes and no in the forms that people write them."""

from __future__ import annotations

from typing import Any

_YES = "true t yes y on 1 1.0 ja j wahr oui o vrai si sí sim verdadero da tak 是 对 真 有 はい ✓ ✔ ☑"
_NO = "false f no n off 0 0.0 nein falsch non faux não nao falso net nie 否 不 错 假 无 いいえ ✗ ✘ ☐ ×"
FORMS = {**dict.fromkeys(_YES.split(), True), **dict.fromkeys(_NO.split(), False)}


def truths_of(texts: Any) -> Any:
    """Return texts as booleans, null where one is neither a form of yes nor of no.

    >>> import pyarrow as pa
    >>> truths_of(pa.array(["TRUE", "no", "Y", "maybe", None])).to_pylist()
    [True, False, True, None, None]
    """
    import pyarrow as pa

    different = texts.unique()
    forms = [None if text is None else FORMS.get(text.strip().casefold()) for text in different.to_pylist()]
    values = pa.array(forms, pa.bool_())
    places = pa.compute.index_in(texts, value_set=different)
    taken = values.take(places.combine_chunks() if isinstance(places, pa.ChunkedArray) else places)
    return pa.chunked_array([taken]) if isinstance(texts, pa.ChunkedArray) else taken


def mixes_forms(texts: list[str]) -> bool:
    """Return whether a column writes yes and no in several forms; two values of one form are categories as they are.

    >>> mixes_forms(["yes", "no"]), mixes_forms(["yes", "Y", "no"]), mixes_forms(["1", "0", "maybe"])
    (False, True, False)
    """
    forms = [FORMS.get(text.strip().casefold()) for text in texts]
    return len(texts) > 2 and None not in forms and len(set(forms)) == 2
