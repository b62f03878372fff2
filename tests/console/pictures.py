"""Pictures of the screen: SVG as the library draws it, PNG where a font is there."""

from pathlib import Path

import pytest

PICTURES = Path(__file__).parents[2] / "screenshots"
FONTS = Path("/usr/share/fonts/truetype")
FAMILIES = {"firacode": "Fira Code", "dejavu": "DejaVu Sans Mono"}


def keep(svg: str, name: str) -> Path:
    """Writes a picture as SVG and, where it can be drawn, as PNG."""
    path = PICTURES / f"{name}.svg"
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != svg:
        path.write_text(svg, encoding="utf-8")
    family = next((f for d, f in FAMILIES.items() if (FONTS / d).is_dir()), None)
    if family is not None:
        _draw(path, family)
    return path


def _draw(path: Path, family: str) -> None:
    resvg_py = pytest.importorskip("resvg_py")
    drawn = resvg_py.svg_to_bytes(
        svg_path=str(path), font_dirs=[str(FONTS)], monospace_family=family
    )
    path.with_suffix(".png").write_bytes(bytes(drawn))
