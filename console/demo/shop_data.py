"""What the Sundry shop holds on its first day: people, orders, parcels, rules.

Sundry is an invented shop for home goods. Everything is written as data, with days
counted back from the day the shop opens, so that the demo looks fresh whenever it is
started and is still the same each time.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """A person with an account at Sundry."""

    id: str
    name: str
    email: str
    street: str
    postcode: str
    city: str
    country: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of an order; `price` is for one piece, as decimal text."""

    sku: str
    name: str
    price: str
    quantity: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order as it stands on the first day.

    Attributes:
        days: how many days ago it was placed.
        status: `placed`, `packed`, `shipped`, `delivered` or `cancelled`.
        charges: how often the sum was charged (2 is a double charge).
        parcel: what the carrier reported, as (days ago, words), oldest first.
    """

    id: str
    customer: str
    days: int
    status: str
    currency: str
    lines: tuple[Line, ...]
    charges: int = 1
    carrier: str = ""
    parcel: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Voucher:
    """A voucher that somebody holds on the first day; `days` is its age."""

    code: str
    customer: str
    amount: str
    currency: str
    days: int
    valid_days: int
    minimum: str = "0.00"


def _customer(row: str) -> Customer:
    parts = tuple(part.strip() for part in row.split("|"))
    return Customer(
        id=parts[0],
        name=parts[1],
        email=f"{parts[2]}@example.com",
        street=parts[3],
        postcode=parts[4],
        city=parts[5],
        country=parts[6],
    )


CUSTOMERS = tuple(
    _customer(row)
    for row in """
C-1001 | Ida Brandvik | ida.brandvik | Havnegata 4 | 7010 | Trondheim | NO
C-1002 | Tomasz Wrona | t.wrona | ul. Lipowa 12/3 | 31-503 | Kraków | PL
C-1003 | Priya Raman | priya.raman | 18 Alder Row | LS6 2QE | Leeds | GB
C-1004 | Jonas Ehlert | jonas.ehlert | Gärtnerstr. 71 | 20253 | Hamburg | DE
C-1005 | Marguerite Aubin | m.aubin | 9 rue des Carmes | 44000 | Nantes | FR
C-1006 | Owen Tregear | owen.tregear | 2 Quay Street | TR11 3LH | Falmouth | GB
C-1007 | Lena Hofbauer | lena.hofbauer | Feldgasse 8 | 1080 | Wien | AT
C-1008 | Sanna Koskela | sanna.koskela | Kalevankatu 22 | 00100 | Helsinki | FI
C-1009 | Rui Falcato | rui.falcato | Rua da Bica 31 | 1200-054 | Lisboa | PT
C-1010 | Beatrix Nolde | beatrix.nolde | Am Markt 3 | 50667 | Köln | DE
C-1011 | Darragh Keane | darragh.keane | 14 Mill Lane | T12 W8K4 | Cork | IE
C-1012 | Aylin Tekin | aylin.tekin | Sonnenallee 140 | 12059 | Berlin | DE
C-1013 | Hugo Lindqvist | hugo.lindqvist | Storgatan 5 | 411 38 | Göteborg | SE
C-1014 | Nadia Serrat | nadia.serrat | Carrer Nou 17 | 08001 | Barcelona | ES
C-1015 | Femke Dijkman | femke.dijkman | Oudegracht 88 | 3511 AV | Utrecht | NL
C-1016 | 佐伯 美雪 | miyuki.saeki | 4-2-8 Kitazawa | 155-0031 | Tokyo | JP
C-1017 | نور الحداد | nour.haddad | 12 Rue Bliss | 1103 | Beirut | LB
C-1018 | Viktor Hansl | viktor.hansl | Lindenweg 6 | 80331 | München | DE
C-1019 | Grete Hansl | grete.hansl | Lindenweg 6 | 80331 | München | DE
C-1020 | Callum Birse | callum.birse | 40 Union Place | AB10 1QS | Aberdeen | GB
C-1021 | Elodie Marchetti | elodie.marchetti | 3 place Bellecour | 69002 | Lyon | FR
C-1022 | Petra Novotná | petra.novotna | Dlouhá 15 | 110 00 | Praha | CZ
C-1023 | Samuel Adeyinka | samuel.adeyinka | 7 Fern Close | M14 5RD | Manchester | GB
C-1024 | Karin Oberholt | karin.oberholt | Seeweg 1 | 6900 | Bregenz | AT
C-1025 | Matteo Rivolta | matteo.rivolta | Via Larga 20 | 20122 | Milano | IT
C-1026 | Wilma Stoop | wilma.stoop | Laan 2 | 2512 GB | Den Haag | NL
C-1027 | Anouk Perrin | anouk.perrin | 6 quai Nord | 67000 | Strasbourg | FR
C-1028 | Gareth Pugh-Jones | gareth.pj | 1 Heol Fawr | CF10 1EP | Cardiff | GB
C-1029 | Ilse Vanderaa | ilse.vanderaa | Meir 44 | 2000 | Antwerpen | BE
C-1030 | Noor Bakshi | noor.bakshi | 55 Park Road | B13 8AB | Birmingham | GB
""".strip().splitlines()
)


def _lines(text: str) -> tuple[Line, ...]:
    parts = (part.strip().split(" @ ") for part in text.split(";"))
    found = []
    for sku, name, price, *quantity in parts:
        count = int(quantity[0]) if quantity else 1
        found.append(Line(sku=sku, name=name, price=price, quantity=count))
    return tuple(found)


_ON_ITS_WAY = ((3, "Handed to the carrier"), (2, "Sorted at the regional centre"))
_STUCK = (
    (9, "Handed to the carrier"),
    (8, "Sorted at the regional centre"),
    (7, "Delayed: missorted, waiting for onward transport"),
)
_ARRIVED = (
    (5, "Handed to the carrier"),
    (3, "Out for delivery"),
    (3, "Delivered, signed for at the door"),
)
_AT_NEIGHBOUR = (
    (4, "Handed to the carrier"),
    (2, "Out for delivery"),
    (2, "Delivered, left with a neighbour at number 9"),
)


def _order(
    head: str,
    lines: str,
    parcel: tuple[tuple[int, str], ...] = (),
    charges: int = 1,
) -> Order:
    number, customer, days, status, currency, *carrier = head.split()
    return Order(
        id=number,
        customer=customer,
        days=int(days),
        status=status,
        currency=currency,
        lines=_lines(lines),
        charges=charges,
        carrier=" ".join(carrier),
        parcel=parcel,
    )


ORDERS = (
    _order(
        "SU-48201 C-1001 12 shipped EUR Northline",
        "LMP-04 @ Paper floor lamp @ 64.00; BLB-12 @ Bulb E27 @ 4.50 @ 2",
        _STUCK,
    ),
    _order(
        "SU-48202 C-1002 9 delivered EUR Parcelo",
        "MUG-31 @ Stoneware mug, moss @ 11.00 @ 4",
        _ARRIVED,
    ),
    _order(
        "SU-48203 C-1003 8 delivered GBP Parcelo",
        "MIR-02 @ Round mirror, 60 cm @ 118.00",
        _ARRIVED,
    ),
    _order(
        "SU-48204 C-1004 6 delivered EUR Northline",
        "CHR-07 @ Oak dining chair @ 139.00 @ 4",
        _ARRIVED,
        charges=2,
    ),
    _order(
        "SU-48205 C-1005 1 placed EUR",
        "RUG-15 @ Wool rug, 140 x 200 @ 219.00",
    ),
    _order(
        "SU-48206 C-1006 2 packed GBP",
        "KTL-01 @ Enamel kettle @ 38.00; TEA-03 @ Tea tin @ 7.50",
    ),
    _order(
        "SU-48207 C-1007 7 delivered EUR Parcelo",
        "CUS-22 @ Linen cushion, ochre @ 24.00 @ 2",
        _ARRIVED,
    ),
    _order(
        "SU-48208 C-1008 10 delivered EUR Northline",
        "VAS-09 @ Tall glass vase @ 46.00",
        _ARRIVED,
    ),
    _order(
        "SU-48209 C-1009 15 shipped EUR Parcelo",
        "SHL-05 @ Wall shelf, 80 cm @ 72.00 @ 2",
        _STUCK,
    ),
    _order(
        "SU-48210 C-1010 20 delivered EUR Northline",
        "SOF-01 @ Two-seat sofa, slate @ 890.00",
        _ARRIVED,
    ),
    _order(
        "SU-48211 C-1011 4 shipped EUR Parcelo",
        "PLN-06 @ Planter, terracotta @ 19.00 @ 3",
        _ON_ITS_WAY,
    ),
    _order(
        "SU-48212 C-1012 5 delivered EUR Parcelo",
        "CLK-03 @ Kitchen clock @ 33.00",
        _ARRIVED,
    ),
    _order(
        "SU-48213 C-1013 3 delivered EUR Northline",
        "DSK-02 @ Writing desk, birch @ 310.00",
        _AT_NEIGHBOUR,
    ),
    _order(
        "SU-48214 C-1014 11 delivered EUR Parcelo",
        "BLK-08 @ Blackout curtain @ 41.00 @ 2",
        _ARRIVED,
    ),
    _order(
        "SU-48215 C-1015 30 delivered EUR Parcelo",
        "PAN-04 @ Cast iron pan @ 58.00",
        _ARRIVED,
    ),
    _order(
        "SU-48216 C-1016 9 shipped EUR Northline",
        "TPT-02 @ Teapot, 1.2 l @ 52.00",
        _ON_ITS_WAY,
    ),
    _order(
        "SU-48217 C-1017 7 delivered EUR Northline",
        "TRY-05 @ Brass tray @ 67.00",
        _ARRIVED,
    ),
    _order(
        "SU-48218 C-1018 6 delivered EUR Parcelo",
        "KNF-01 @ Chef's knife @ 84.00",
        _ARRIVED,
    ),
    _order(
        "SU-48219 C-1019 5 delivered EUR Parcelo",
        "APR-02 @ Canvas apron @ 29.00",
        _ARRIVED,
    ),
    _order(
        "SU-48220 C-1020 13 shipped GBP Parcelo",
        "BED-03 @ Bed linen set, double @ 96.00",
        _STUCK,
    ),
    _order(
        "SU-48221 C-1021 5 delivered EUR Northline",
        "LMP-11 @ Table lamp, opal @ 79.00",
        _ARRIVED,
    ),
    _order(
        "SU-48222 C-1022 2 placed EUR",
        "STL-02 @ Step stool @ 36.00; HKS-01 @ Coat hooks @ 18.00",
    ),
    _order(
        "SU-48223 C-1023 8 delivered GBP Parcelo",
        "SPK-01 @ Salt and pepper mills @ 26.00",
        _ARRIVED,
    ),
    _order(
        "SU-48224 C-1024 4 shipped EUR Northline",
        "BNC-01 @ Hall bench, ash @ 245.00",
        _ON_ITS_WAY,
    ),
    _order(
        "SU-48225 C-1025 6 delivered EUR Parcelo",
        "ESP-02 @ Moka pot, 6 cups @ 34.00",
        _ARRIVED,
    ),
    _order(
        "SU-48226 C-1026 18 delivered EUR Parcelo",
        "TWL-04 @ Bath towel, sand @ 21.00 @ 6",
        _ARRIVED,
        charges=2,
    ),
    _order(
        "SU-48227 C-1027 1 placed EUR",
        "CND-06 @ Candle holder pair @ 27.00",
    ),
    _order(
        "SU-48228 C-1028 9 delivered GBP Northline",
        "BKC-01 @ Bookcase, tall @ 265.00",
        _ARRIVED,
    ),
    _order(
        "SU-48229 C-1029 6 delivered EUR Parcelo",
        "BWL-07 @ Serving bowl @ 31.00; BWL-02 @ Dip bowl @ 9.00 @ 4",
        _ARRIVED,
    ),
    _order(
        "SU-48230 C-1030 7 shipped GBP Parcelo",
        "THR-02 @ Merino throw @ 74.00",
        _ON_ITS_WAY,
    ),
    _order(
        "SU-48117 C-1003 64 delivered GBP Parcelo",
        "HKS-01 @ Coat hooks @ 16.00",
        _ARRIVED,
    ),
    _order(
        "SU-48102 C-1010 71 delivered EUR Northline",
        "CUS-20 @ Velvet cushion, slate @ 32.00 @ 2",
        _ARRIVED,
    ),
)

VOUCHERS = (
    Voucher(
        code="SUN-K7P2-WELCOME",
        customer="C-1025",
        amount="10.00",
        currency="EUR",
        days=12,
        valid_days=90,
        minimum="50.00",
    ),
    Voucher(
        code="SUN-3F9D-SPRING",
        customer="C-1014",
        amount="15.00",
        currency="EUR",
        days=120,
        valid_days=90,
    ),
)

POLICIES = {
    "returns": (
        "Unused goods can come back within 30 days of delivery: one mail to us, a"
        " label by return, and it costs nothing. Cut fabric and opened bedding are"
        " exceptions."
    ),
    "refunds": (
        "Refunds go to the card that paid, 3 to 5 working days after we start them."
        " No more than what was charged for the order can be refunded."
    ),
    "damaged": (
        "Damage reported within 14 days: a replacement or a refund of the damaged"
        " piece, whichever is liked better. A photo helps but is not needed under"
        " 60.00."
    ),
    "delivery": (
        "We deliver in the EU, the UK, Norway, Iceland and Switzerland, in stock"
        " goods in 2 to 5 working days, to Iceland in 8. A parcel without"
        " news for 7 working days counts as lost: replacement or refund,"
        " whichever is liked better."
    ),
    "cancellation": (
        "An order can be cancelled free of charge until the carrier has it. After"
        " that it is a return."
    ),
    "address": (
        "The delivery address can be changed until the carrier has the parcel, by the"
        " verified customer only."
    ),
    "vouchers": (
        "One voucher an order, valid 90 days, not with sale items. A minimum order"
        " value, if any, is printed under the code."
    ),
    "warranty": (
        "Two years on everything; five on furniture frames. Wear of covers and"
        " candles is not a fault."
    ),
    "identity": (
        "Before anything about money, addresses or orders: two of order number, e-mail"
        " address and postcode must match what we hold."
    ),
}
