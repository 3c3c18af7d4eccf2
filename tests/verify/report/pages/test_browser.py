"""The pages in a browser: keys, touch, links, widths, and that nothing leaves the file.

Skipped where there is no Chromium, or no playwright to drive it: `pip install playwright` and the
system's `chromium` are enough.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.confirmed_traces import confirmed_in
from tests.support.deployment_answers import deployment_answer
from tests.support.grids import small_matrix
from tests.support.pictured import C21, LOSS, beside
from waterline.checker.report.pages.comparison_page import comparison_page
from waterline.checker.report.pages.deployment_page import to_html as to_html_of_deployment
from waterline.checker.report.pages.matrix_page import to_html
from waterline.checker.report.pages.report import finding_page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
pytestmark = pytest.mark.browser

QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTHS = (400, 1400)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright to drive it")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    texts = {"matrix": to_html(small_matrix())}
    for name, trace in (("loss", LOSS), ("c21", C21)):
        found = confirmed_in(trace)
        texts[name] = finding_page(found.problem, found.finding)
    texts["deployment"] = to_html_of_deployment(deployment_answer())
    texts["compared"] = comparison_page(beside(LOSS, "epoch"))
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


class Opened:
    """A page in a window of its own; what it said and asked for is kept."""

    def __init__(self, browser: Any, path: Path, width: int, *, at: str = "", **given: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 800}, **given)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"{path.as_uri()}{at}")
        self.uri = path.as_uri()

    def shown(self) -> list[int]:
        """The steps whose scenes can be seen."""
        scenes = self.page.locator(".trace.open .scene:visible")
        return [int(number) for number in scenes.evaluate_all("s => s.map(e => e.dataset.step)")]

    def require_quiet(self) -> None:
        """Nothing was said, and nothing but the file was asked for."""
        assert self.said == []
        assert {url.split("#")[0] for url in self.asked} == {self.uri}
        self.context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_keys_go_from_step_to_step(browser: Any, pages: dict[str, Path], width: int) -> None:
    opened = Opened(browser, pages["loss"], width)
    seen = [opened.shown()]
    for key in ("ArrowRight", "j", "ArrowLeft", "End", "ArrowRight", "k", "Home", "ArrowLeft"):
        opened.page.keyboard.press(key)
        seen.append(opened.shown())
    opened.page.locator("[data-move=next]").click()
    seen.append(opened.shown())

    assert seen == [[0], [1], [2], [1], [12], [12], [11], [0], [0], [1]]
    opened.require_quiet()


@pytest.mark.parametrize(("height", "fits"), [(800, True), (500, False)])
def test_the_list_of_steps_is_whole_or_fades_out(
    browser: Any, pages: dict[str, Path], height: int, fits: bool
) -> None:
    """A list has the height of the window; where that is too little its last line is faint."""
    opened = Opened(browser, pages["c21"], 1400)
    opened.page.set_viewport_size({"width": 1400, "height": height})
    is_faint = "fits => document.querySelector('.steps').matches('.more') != fits"
    opened.page.wait_for_function(is_faint, arg=fits)
    steps = opened.page.locator(".trace.open .steps")
    is_whole = steps.evaluate("list => list.scrollHeight <= list.clientHeight + 2")

    assert is_whole == fits
    opened.page.keyboard.press("End")
    opened.page.wait_for_function("!document.querySelector('.steps').matches('.more')")
    opened.require_quiet()


@pytest.mark.parametrize("width", [400, 1000])
def test_no_column_of_the_answer_about_a_cluster_is_cut(
    browser: Any, pages: dict[str, Path], width: int
) -> None:
    """Neither the page nor a table of settings is wider than the window."""
    opened = Opened(browser, pages["deployment"], width)
    wider = """() => [...document.querySelectorAll("table")].filter(
        (table) => !table.closest(".trace") && table.getBoundingClientRect().right > innerWidth
    ).length"""

    assert opened.page.evaluate("document.querySelectorAll('table').length") > 2
    assert opened.page.evaluate(wider) == 0
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.require_quiet()


def test_a_swipe_goes_on_and_back(browser: Any, pages: dict[str, Path]) -> None:
    opened = Opened(browser, pages["loss"], 400, has_touch=True, is_mobile=True)
    swipe = """([from, to]) => {
        const part = document.querySelector(".scenes");
        const at = (x) => [new Touch({identifier: 1, target: part, clientX: x, clientY: 300})];
        const down = {touches: at(from), changedTouches: at(from)};
        part.dispatchEvent(new TouchEvent("touchstart", down));
        part.dispatchEvent(new TouchEvent("touchend", {touches: [], changedTouches: at(to)}));
    }"""
    seen = []
    for way in ([300, 100], [300, 100], [100, 300], [100, 120]):
        opened.page.evaluate(swipe, way)
        seen.append(opened.shown())
    opened.page.locator("[data-move=last]").tap()
    seen.append(opened.shown())

    assert seen == [[1], [2], [1], [1], [12]]
    opened.require_quiet()


def test_a_link_names_a_step(browser: Any, pages: dict[str, Path]) -> None:
    opened = Opened(browser, pages["loss"], 1400, at="#trace-1/10")
    first = opened.shown()
    opened.page.locator(".steps li[data-step='6'] a").click()

    assert first == [10]
    assert opened.shown() == [6]
    assert opened.page.url.endswith("#trace-1/6")
    opened.page.keyboard.press("j")
    assert opened.page.url.endswith("#trace-1/7")
    opened.require_quiet()


@pytest.mark.parametrize(("width", "columns"), [(400, 1), (1400, 2)])
def test_two_versions_stand_beside_each_other_where_there_is_room(
    browser: Any, pages: dict[str, Path], width: int, columns: int
) -> None:
    opened = Opened(browser, pages["compared"], width, at="#trace-1/10")
    sides = opened.page.locator(".scene.current .side")
    lefts = sides.evaluate_all("s => s.map(e => Math.round(e.getBoundingClientRect().left))")
    opened.page.keyboard.press("ArrowRight")

    assert len(lefts) == 2
    assert len(set(lefts)) == columns
    assert opened.shown() == [11]
    assert not opened.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    opened.require_quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["loss", "c21"])
def test_logs_are_within_the_window(
    browser: Any, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    opened = Opened(browser, pages[name], width, at="#trace-1/10", color_scheme=scheme)
    boxes = opened.page.locator(".scene.current .logs .lane td").evaluate_all(
        "s => s.map(e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right])"
    )
    overflow = opened.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    paper = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert boxes
    assert all(0 <= left < right <= width for left, right in boxes)
    assert not overflow
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}[scheme]
    opened.require_quiet()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_cell_opens_its_trace_and_back_leads_to_that_cell(
    browser: Any, pages: dict[str, Path], width: int
) -> None:
    opened = Opened(browser, pages["matrix"], width)
    hidden = opened.page.locator(".trace:visible").count()
    cell = opened.page.locator(".grid td.violated a").last
    name, target = cell.get_attribute("id"), cell.get_attribute("href")
    cell.click()
    visible = opened.page.locator(".trace:visible").evaluate_all("s => s.map(e => '#' + e.id)")
    first = opened.shown()
    opened.page.keyboard.press("ArrowRight")
    opened.page.locator(".trace.open .back").first.click()

    assert hidden == 0
    assert visible == [target]
    assert first == [0]
    assert opened.page.url.endswith(f"#{name}")
    opened.page.wait_for_function(
        "id => { const box = document.getElementById(id).getBoundingClientRect();"
        "return box.top >= 0 && box.bottom <= innerHeight; }",
        arg=name,
    )
    opened.require_quiet()


def test_without_scripts_every_step_is_there(browser: Any, pages: dict[str, Path]) -> None:
    opened = Opened(browser, pages["loss"], 1400, java_script_enabled=False)

    assert opened.page.locator(".scene:visible").count() == 13
    assert opened.page.locator(".bar:visible").count() == 0
    opened.require_quiet()
