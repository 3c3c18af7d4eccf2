"""The documents are a site without a broken link, and every document has its place in it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import waterline
from lab.documents import tables
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE

ROOT = Path(__file__).parents[2]


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as files. Also a document that no group names is an error."""
    target = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert built.returncode == 0, built.stderr
    return target


def test_the_site_is_built_and_no_link_is_broken(site: Path) -> None:
    assert "10. hw: r1 learns that r0 leads" in (site / "index.html").read_text()
    assert (site / "tutorial.html").is_file()
    assert (site / "pictures" / "loss.svg").is_file()


def test_the_build_puts_every_table_in_its_place(site: Path) -> None:
    pages = {path.name: (site / path.name).with_suffix(".html") for path in tables.documents()}
    texts = {name: page.read_text() for name, page in pages.items()}

    assert [name for name, text in texts.items() if "Made from the code" in text] == []
    for page, cell in (
        ("model.md", "known_isr"),
        ("protocol.md", "fencing"),
        ("gate.md", "spark-conf"),
        ("confirm.md", "StrayFetch"),
    ):
        assert f"<td><code>{cell}</code></td>" in texts[page]


def test_the_build_makes_the_pages_of_results(site: Path) -> None:
    catalogue = (site / "results" / "catalogue.html").read_text()
    brokers = (site / "results" / "released-brokers.html").read_text()

    assert catalogue.count("Circumstances: ") == len(CATALOGUE)
    assert 'id="c57-taken-directory"' in catalogue
    assert "made: " not in catalogue + brokers
    assert 'id="with-kraft"' in brokers
    assert "lshr i64" in re.sub("<[^>]*>", "", (site / "checker.html").read_text())


def test_the_page_of_the_package_has_every_name_that_it_exports(site: Path) -> None:
    text = (site / "api.html").read_text()

    assert [name for name in waterline.__all__ if f'id="{name.lower()}' not in text] == []
    assert "check(model: Model | " in re.sub("<[^>]*>", "", text)


def test_papers_of_the_repository_are_pages_that_others_lead_to(site: Path) -> None:
    for name in ("architecture", "contributing", "security", "changelog"):
        assert (site / f"{name}.html").is_file()
        assert f'href="{name}.html' in (site / "index.html").read_text()
    assert 'href="contributing.html#what-is-added-where"' in (site / "model.html").read_text()
    assert (
        'href="../results/catalogue.html"'
        in (site / "upstream" / "taken-directory.html").read_text()
    )


def test_what_a_page_loads_is_part_of_the_site(site: Path) -> None:
    """Styles, scripts, and the index of the search as a script: a file may not fetch one."""
    loaded = re.compile(r'<script[^>]* src="([^"]+)"|<link rel="stylesheet" href="([^"]+)"')
    for page in (site / "index.html", site / "upstream" / "C21.html"):
        named = [one or other for one, other in loaded.findall(page.read_text())]

        assert {"iframe-worker.js", "site.css"} <= {Path(name).name for name in named}
        assert all((page.parent / name).is_file() for name in named)
    assert (site / "search" / "search_index.js").read_text().startswith("var __index = ")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_search_finds_where_the_site_is_opened_as_files(site: Path, tmp_path: Path) -> None:
    options = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    shown = subprocess.run(
        [
            str(CHROMIUM),
            *options.split(),
            f"--user-data-dir={tmp_path}",
            "--virtual-time-budget=4000",
            "--dump-dom",
            f"{(site / 'upstream' / 'C21.html').as_uri()}?q=watermark",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert re.search(r"\d+ matching documents", shown.stdout)
