"""`handoff export`: a chart that leaves the house, whole and inert."""

import json
import re
from html.parser import HTMLParser

from tests.cli.conftest import Handoff, message

ZOO = (
    "<script>alert(1)</script> </pre><h1>paid</h1> &amp; "
    "\x1b]52;c;aGk=\x07 \u202egnp.exe [x](javascript:alert(1))\n"
    "````\n# Not a heading\n=cmd|' /C calc'!A1\n" + "long " * 1000 + "the end"
)


class Outline(HTMLParser):
    """The tags of a page, and the text in each `pre`."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self.tags.append(tag)
        if tag == "pre":
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["pre"]:
            self.texts[-1] += data


def a_ticket(handoff: Handoff) -> str:
    said = handoff("ingest", "-", stdin=message(text=ZOO, subject="<b>Where?</b>\x1b["))
    ticket: str = said.lines[0]["ticket"]
    assert handoff("note", ticket, "<i>careful</i>").code == 0
    return ticket


def test_rule_12_an_html_page_holds_no_tag_that_a_buyer_wrote(handoff: Handoff) -> None:
    page = handoff("export", a_ticket(handoff), "--format", "html")
    assert page.code == 0
    seen = Outline()
    seen.feed(page.out)
    ours = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "pre"}
    assert set(seen.tags) == ours
    assert seen.tags.count("h1") == 1
    assert "default-src 'none'" in page.out
    (told,) = [text for text in seen.texts if "alert(1)" in text]
    assert told.startswith("<script>alert(1)</script> </pre><h1>paid</h1>")
    assert told.rstrip().endswith("the end")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page.out)


def test_rule_12_a_markdown_page_can_t_be_left_by_what_stands_in_it(
    handoff: Handoff,
) -> None:
    page = handoff("export", a_ticket(handoff), "--format", "md").out
    fence, outside = "", []
    for line in page.splitlines():
        if not fence and line.startswith("```"):
            fence = line.removesuffix("text")
        elif fence and line == fence:
            fence = ""
        elif not fence and line:
            outside.append(line)
    assert fence == ""
    assert [line[0] for line in outside] == ["#"] * len(outside)
    assert r"\<b\>Where\?\<\/b\>" in outside[0]
    assert "the end" in page


def test_a_chart_is_exported_as_the_document_that_show_prints(handoff: Handoff) -> None:
    ticket = a_ticket(handoff)
    exported, shown = handoff("export", ticket), handoff("show", ticket, "--json")
    assert exported.json["journal"] == shown.json["journal"]
    assert json.loads(exported.out)["journal"][0]["body"]["text"] == ZOO


def test_what_can_t_be_exported_is_said_in_one_line(handoff: Handoff) -> None:
    assert handoff("export", "T-NONE").code == 2
    assert handoff("export", "T-NONE", "--format", "pdf").code == 2
