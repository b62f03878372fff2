"""Texts that break screens, one of each kind."""

ESC = "\x1b"

HOSTILE = {
    "colour": f"{ESC}[31mred{ESC}[0m",
    "title": f"{ESC}]0;PWNED\x07after",
    "clear": f"{ESC}[2J{ESC}[H",
    "clipboard": f"{ESC}]52;c;QUJD{ESC}\\",
    "link": f"{ESC}]8;;https://example.com{ESC}\\here{ESC}]8;;{ESC}\\",
    "c1": "\x9b31mred\x9d0;title\x9c",
    "dcs": f"{ESC}P+q544e{ESC}\\ {ESC}Pq#0;2;0;0;0#0~~{ESC}\\ \x90q\x9c",
    "strings": f"{ESC}_Gi=1;QUJD{ESC}\\ {ESC}^private{ESC}\\ {ESC}Xstart{ESC}\\",
    "asks": f"{ESC}[6n{ESC}[c{ESC}[21t{ESC}]4;1;?\x07{ESC}]11;?\x07{ESC}P$q m{ESC}\\",
    "modes": f"{ESC}c{ESC}[?1049l{ESC}[?2004l{ESC}(0{ESC}[!p{ESC}[5;9r{ESC}#8"
    f"{ESC}[200~",
    "nul": "a\x00b\x7fc",
    "bell": "ring\x07 back\x08 vt\x0b ff\x0c",
    "bidi override": "invoice\u202egpj.exe",
    "bidi isolate": "\u2066hidden\u2069 \u061c\u200e\u200f",
    "zero width": "pay\u200bpal \ufeffstart wo\u2060rd",
    "separators": "one\u2028two\u2029three\x85four",
    "surrogate": "half\ud800\udfffpair",
    "private": "\ue000\uf8ff\U000f0000",
    "tags": "ok\U000e0049\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065",
    "selectors": "a\ufe00b\U000e0100c",
    "fillers": "\u3164name\u115f\uffa0",
    "markup": "[bold]x[/bold] [/] [/foo] [@click=app.quit]go[/] [link=x",
    "carriage": "real\rfake",
    "tabs": "a\tb",
    "towers": "Z" + "\u0300\u0315\u20dd" * 40 + " o" + "\u0e47" * 60 + "!",
    "crlf": "one\r\ntwo",
}

MILD = {
    "plain": "Where is my parcel? 100 % sure it was sent.",
    "accents": "Zoë Ångström naïve café",
    "cjk": "返品について教えてください",
    "arabic": "أين طلبي؟",
    "hebrew": "איפה החבילה שלי",
    "hindi": "मेरा पार्सल कहाँ है",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467 fine",
    "heart": "\u2764\ufe0f thanks",
    "keycap": "1\ufe0f\u20e3",
    "flag": "\U0001f1eb\U0001f1f7",
    "wide edges": "\uff21\u8a9e" * 40,
    "hangul": "\u1112\u1161\u11ab",
}

FORBIDDEN = (
    b"\x1b]0", b"\x1b]4", b"\x1b]8", b"\x1b]11", b"\x1b[2J", b"PWNED\x07",
    b"\x1b[31mred", b"\x1bc",
    b"\x1b#8", b"\x1b(0", b"\x1b[!p", b"\x1b[5;9r", b"\x1b[200~", b"\x1b[21t",
    b"\x1b[6n", b"\x1b[c", b"\x1b_", b"\x1b^", b"\x1bX", b"\x1bP",
    b"\x00", b"\x08", b"\x7f",
    *(f"{chr(c1)}".encode() for c1 in range(0x80, 0xA0)),
    "\u202e".encode(), "\u2066".encode(), "\u200b".encode(),
    "\ufeff".encode(), "\u2028".encode(), "\ue000".encode(), "\U000e0049".encode(),
)  # fmt: skip
"""Bytes that a terminal may get from nobody's text."""
