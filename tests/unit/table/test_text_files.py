"""Texts from files and folders: batches, encodings, and what is refused with its place."""

import gzip
import json
import weakref
from time import sleep

import pytest

from bayeskit import TextClassifier, read_texts
from bayeskit.errors import TableError
from bayeskit.table.formats import csv as csv_format


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_json_lines_plain_and_packed(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"text": "good", "label": 1}, {"text": "坏", "label": 0}])
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for place in (path, packed):
        assert list(read_texts(place)) == [(["good", "坏"], [1, 0])]


def test_large_files_come_in_batches_and_say_how_far_they_are(tmp_path):
    row = {"text": "word " * 200_000, "label": "x"}
    path = write(tmp_path / "a.jsonl", [row] * 12)
    seen = []
    batches = list(read_texts(path).following(lambda step: seen.append(step.done)))
    assert [len(texts) for texts, _ in batches] == [5, 5, 2]
    assert seen[-1] == path.stat().st_size == read_texts(path).size


def test_csv_and_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="tables are read by pyarrow")
    import pyarrow.parquet as pq

    (tmp_path / "a.csv").write_text('class,body\nspam,"cheap, cheap"\nham,\n')
    pq.write_table(pa.table({"class": ["spam", "ham"], "body": ["cheap, cheap", ""]}), tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        assert list(read_texts(tmp_path / name)) == [(["cheap, cheap", ""], ["spam", "ham"])]


def test_a_folder_per_class(tmp_path):
    for label, texts in {"pos": ["fine", "good"], "neg": ["bad"]}.items():
        (tmp_path / label / "deep").mkdir(parents=True)
        for i, text in enumerate(texts):
            (tmp_path / label / "deep" / f"{i}.txt").write_text(text)
    assert list(read_texts(tmp_path)) == [(["bad", "fine", "good"], ["neg", "pos", "pos"])]


def test_a_folder_without_folders_has_no_labels(tmp_path):
    (tmp_path / "a.txt").write_text("fine")
    assert list(read_texts(tmp_path)) == [(["fine"], None)]


def test_texts_without_labels_can_be_predicted_not_learned(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"text": "good"}])
    assert list(read_texts(path)) == [(["good"], None)]
    with pytest.raises(TableError, match=r"has no labels; say which column holds them"):
        TextClassifier().fit(read_texts(path))


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b'{"text": "a", "label": 1}\n{"text": "\xe9"}\n', {}, r"'a.jsonl', line 2, byte 36: 0xe9 is not utf-8 text"),
        ('{"text": "好", "label": 1}\n'.encode("gb18030"), {}, "Give the encoding, such as gb18030"),
        ('{"text": "a", "label": 1}\n'.encode("utf-16"), {}, "byte order mark of UTF-16: give encoding='utf-16'"),
        (b'{"text": "a", "label": 1}\n{"text": "b",\n', {}, r"line 2: this is not a JSON object \(.*, column 14\)"),
        (
            b'{"text": "a", "label": 1}\n{"text": "b"}\n',
            {},
            r"line 2: a label is missing in 'label'\. bayeskit\.drop_unl",
        ),
        (b'{"text": "a", "label": 1}\n{"label": 1}\n', {}, r"line 2: there is no key 'text'"),
        (b'{"text": 3, "label": 1}\n', {}, r"line 1: the key 'text' must hold text; got 3"),
        (b"", {}, r"'a.jsonl' has no text: it is empty"),
        (b'{"words": "a", "label": 1}\n', {}, "name the one that holds the texts"),
        (b'{"text": "a", "label": 1}\n', {"target": "lable"}, "did you mean 'label'"),
        (b'{"text": "a"}\n', {"encoding": "klingon"}, "there is no encoding 'klingon'"),
        (b'{"text": "a"}\n', {"errors": "ignore"}, "errors must be 'strict' or 'replace'"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path, content, options, message):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(TableError, match=message):
        list(read_texts(path, **options))


def test_encodings_are_read_when_given(tmp_path):
    row = '{"text": "好 é", "label": 1}\n'
    for encoding, given in (("utf-8-sig", "utf-8"), ("utf-16", "utf-16")):
        (tmp_path / "a.jsonl").write_bytes(row.encode(encoding))
        assert list(read_texts(tmp_path / "a.jsonl", encoding=given)) == [(["好 é"], [1])]
    (tmp_path / "a.jsonl").write_bytes('{"text": "好", "label": 1}\n'.encode("gb18030"))
    assert list(read_texts(tmp_path / "a.jsonl", encoding="gb18030")) == [(["好"], [1])]
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a\xe9b", "label": 1}\n')
    assert list(read_texts(tmp_path / "a.jsonl", errors="replace")) == [(["a�b"], [1])]


def test_a_csv_file_says_the_byte_and_replaces_when_asked(tmp_path):
    pytest.importorskip("pyarrow", reason="tables are read by pyarrow")
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\nfine,1\ncaf\xe9,0\n")
    with pytest.raises(TableError, match=r"'a.csv', line 3, byte 21: this is not utf-8 text"):
        list(read_texts(path))
    assert list(read_texts(path, errors="replace")) == [(["fine", "caf�"], ["1", "0"])]
    path.write_bytes("text,label\n好\x81,1\n".encode("gb18030") + b"\xff,0\n")
    assert next(iter(read_texts(path, encoding="gb18030", errors="replace")))[0] == ["好\x81", "�"]


def test_a_document_may_be_a_word_that_means_missing_elsewhere(tmp_path):
    pytest.importorskip("pyarrow", reason="tables are read by pyarrow")
    (tmp_path / "a.csv").write_text("text,label\nNA,null\n?,NA\n")
    assert list(read_texts(tmp_path / "a.csv")) == [(["NA", "?"], ["null", "NA"])]


def test_files_of_a_folder_say_their_name_and_a_mark_wins(tmp_path):
    (tmp_path / "pos").mkdir()
    (tmp_path / "pos" / "a.txt").write_bytes("ok".encode("utf-16"))
    assert list(read_texts(tmp_path)) == [(["ok"], ["pos"])]
    (tmp_path / "pos" / "b.txt").write_bytes(b"abc\xff")
    with pytest.raises(TableError, match=r"b.txt', byte 3: 0xff is not utf-8 text"):
        list(read_texts(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match="is a directory without a file"):
        read_texts(tmp_path / "empty")


@pytest.mark.parametrize("broken", [False, True])
def test_nothing_reads_a_file_any_more_that_failed_or_was_given_up(tmp_path, monkeypatch, broken):
    # Arrow's threads read ahead; where they still did at the end of Python, the process hung or aborted.
    path = tmp_path / "rows.csv"
    row = b"cheap\xff pills,no\n" if broken else b"cheap pills,no\n"
    path.write_bytes(b"text,label\n" + row * 300_000)
    alive = weakref.WeakSet()
    read_buffer = csv_format._Ended.read_buffer

    def slowly(self, n):
        alive.add(self)
        piece = read_buffer(self, n)
        sleep(0.05)
        return piece

    monkeypatch.setattr(csv_format._Ended, "read_buffer", slowly)
    batches = iter(read_texts(path, text="text", target="label"))
    if broken:
        with pytest.raises(TableError, match="not utf-8"):
            next(batches)
    else:
        next(batches)
    del batches
    assert not alive


def mailbox_of(path, subjects):
    """Written by the standard library."""
    import mailbox
    from email.message import EmailMessage

    box = mailbox.mbox(path)
    for subject, body, kind in subjects:
        message = EmailMessage()
        message["Subject"], message["From"] = subject, "someone@example.org"
        message.set_content(body, subtype=kind)
        if kind == "plain":
            message.add_attachment(b"\x00\x01", maintype="application", subtype="pdf", filename="a.pdf")
        box.add(message)
    box.flush()
    box.close()
    return path


def test_mailboxes(tmp_path):
    page = "<html><style>p {color: red}</style><p>Cheap &amp; <b>good</b></p></html>"
    spam = mailbox_of(tmp_path / "spam.mbox", [("Buy 便宜", "now\n\nFrom here on\n", "plain"), ("Page", page, "html")])
    ham = mailbox_of(tmp_path / "ham.mbox", [("Lunch", "at noon", "plain")])
    (batch,) = read_texts([spam, ham])
    texts, labels = batch
    assert labels == ["spam", "spam", "ham"]
    assert [text.split() for text in texts] == [
        ["Buy", "便宜", "now", "From", "here", "on"],
        ["Page", "Cheap", "&", "good"],
        ["Lunch", "at", "noon"],
    ]
    assert next(iter(read_texts(ham, text="subject"))) == (["Lunch"], None)
    (tmp_path / "no.mbox").write_text("Subject: hi\n\nthere\n")
    with pytest.raises(TableError, match="an mbox file begins with a line 'From …'"):
        list(read_texts(tmp_path / "no.mbox"))


def test_no_file_of_texts_is_refused_by_name():
    with pytest.raises(TableError, match="name at least one file of texts"):
        read_texts([])
