"""A demo's folder belongs to the person too: what they changed in it stays."""

from pathlib import Path

import pytest

from console.demo.place import made_place
from console.wiring import SCRIPTED


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def _start(model: str | None = SCRIPTED, *, fresh: bool = False) -> Path:
    with made_place(None, model=model, fresh=fresh) as place:
        return place.folder


def test_what_a_person_changed_or_added_is_there_at_the_next_start() -> None:
    folder = _start()
    config = folder / "handoff.toml"
    changed = config.read_bytes().replace(b'"8s"', b'"9s" # \xff\r\n')
    config.write_bytes(changed)
    (folder / "replies" / "we keep it open.md").write_text("Mine.")
    (folder / "replies" / "own.md").write_text("Own.")
    (folder / "support.md").unlink()
    _start()
    assert config.read_bytes() == changed
    assert (folder / "replies" / "we keep it open.md").read_text() == "Mine."
    assert (folder / "replies" / "own.md").read_text() == "Own."
    assert (folder / "support.md").exists()


def test_fresh_writes_the_demos_files_anew_and_leaves_the_others() -> None:
    folder = _start()
    before = (folder / "handoff.toml").read_bytes()
    (folder / "handoff.toml").write_text("broken")
    for name in ("handoff.db", "handoff.db-wal", "shop.db", "progress.json"):
        (folder / name).touch()
    (folder / "replies" / "own.md").write_text("Own.")
    (folder / "replies" / "we keep it open.md").write_text("Mine.")
    _start(fresh=True)
    assert (folder / "handoff.toml").read_bytes() == before
    assert (folder / "replies" / "own.md").read_text() == "Own."
    assert (folder / "replies" / "we keep it open.md").read_text() != "Mine."
    left = {path.name for path in folder.iterdir()}
    assert left == {"handoff.toml", "replies", "support.md", "running.lock"}


def test_live_and_scripted_change_the_model_and_nothing_else() -> None:
    def model(folder: Path) -> str:
        lines = (folder / "handoff.toml").read_text().splitlines()
        return next(line for line in lines if line.startswith("model")).split('"')[1]

    assert model(_start()) == SCRIPTED
    folder = _start(None)
    shipped = model(folder)
    assert shipped != SCRIPTED
    config = folder / "handoff.toml"
    config.write_text(config.read_text().replace(shipped, "another"))
    assert model(_start(None)) == "another"
    assert model(_start()) == SCRIPTED
