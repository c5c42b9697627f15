"""The report in a browser: nothing is fetched, nothing fails, all can be seen and read."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from calibrant.evidence import Evidence
from calibrant.plotting import PALETTES
from calibrant.report import Report, comparison, report
from hostile_names import HOSTILE

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium"),
]

# Added to a copy of the page, which itself has no script.
MEASURE = """
<script>
addEventListener("load", () => {
  const box = (e) => {
    const r = e.getBoundingClientRect();
    return [r.left, r.top, r.right, r.bottom];
  };
  const hidden = (e) => e.closest(".scroll, svg defs") !== null;
  const svgs = [...document.querySelectorAll("figure svg")];
  parent.postMessage(JSON.stringify({
    width: innerWidth,
    scrolled: document.documentElement.scrollWidth,
    resources: performance.getEntriesByType("resource").map((entry) => entry.name),
    background: getComputedStyle(document.body).backgroundColor,
    textColour: getComputedStyle(document.querySelector("figure svg text")).fill,
    figures: svgs.map((svg) => ({
      name: svg.parentElement.id,
      box: box(svg),
      marks: svg.querySelectorAll("path, use").length,
      texts: [...svg.querySelectorAll("text")].map((text) => ({
        text: text.textContent, box: box(text),
        size: parseFloat(getComputedStyle(text).fontSize) * svg.getBoundingClientRect().width
              / svg.viewBox.baseVal.width,
      })),
    })),
    tooWide: [...document.body.querySelectorAll("*")]
      .filter((e) => !hidden(e) && !e.closest("svg"))
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5)
      .map((e) => e.outerHTML.slice(0, 80)),
    smallest: Math.min(...[...document.body.querySelectorAll("p, dt, dd, td, small, a")]
      .map((e) => parseFloat(getComputedStyle(e).fontSize))),
  }), "*");
});
</script>
"""


# A window has a least width, a frame has not.
FRAME = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head><body>
<script>
const root = document.documentElement;
addEventListener("message", (event) => {{ root.dataset.measured = event.data; }});
</script>
<iframe src="{source}" style="width: {width}px; height: 900px; border: 0"></iframe>
</body></html>
"""


def opened(page, width, theme, folder):
    """What the browser measured, and what it wrote to its console."""
    (folder / "page.html").write_text(page.replace("</body>", MEASURE + "</body>"), "utf-8")
    file = folder / "frame.html"
    file.write_text(FRAME.format(source="page.html", width=width), "utf-8")
    flags = [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
        "--disable-background-networking", "--disable-component-update", "--disable-extensions",
        "--enable-logging=stderr", "--virtual-time-budget=3000", "--window-size=1600,1000",
        f"--user-data-dir={folder / 'profile'}",
        f"--blink-settings=preferredColorScheme={0 if theme == 'dark' else 1}",
    ]  # fmt: skip
    done = subprocess.run(
        [CHROMIUM, *flags, "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    measured = re.search(r'data-measured="([^"]*)"', done.stdout)
    assert measured, done.stderr
    return json.loads(html.unescape(measured[1])), re.findall(r".*CONSOLE.*", done.stderr)


@pytest.fixture(scope="module")
def page():
    rng = np.random.default_rng(11)
    evidence = rng.normal(0, 2, 3000)
    y = rng.random(3000) < 1 / (1 + np.exp(-evidence))
    keys = np.array(
        ["north", "<b>south</b>", "a-name-without-any-space-that-goes-on-and-on-and-on"]
    )
    groups = keys[np.arange(3000) % 3]
    return report(y, 1 / (1 + np.exp(-1.6 * evidence)), groups=groups).to_html()


@pytest.fixture(
    scope="module",
    params=[(400, "light"), (400, "dark"), (1400, "light"), (1400, "dark")],
    ids=lambda param: f"{param[0]} px, {param[1]}",
)
def view(request, page, tmp_path_factory):
    width, theme = request.param
    measured, console = opened(page, width, theme, tmp_path_factory.mktemp("browser"))
    return width, theme, measured, console


def test_nothing_is_fetched_and_nothing_fails(view):
    _, _, measured, console = view
    assert measured["resources"] == []
    assert console == []


def test_no_line_is_cut_off(view):
    width, _, measured, _ = view
    assert measured["width"] == width
    assert measured["scrolled"] <= width
    assert measured["tooWide"] == []
    assert measured["smallest"] >= 12


def test_all_pictures_are_there_and_their_text_is_readable(view):
    width, _, measured, _ = view
    figures = {figure["name"]: figure for figure in measured["figures"]}
    assert list(figures) == [
        f"figure-{name}"
        for name in (
            "reliability", "model-versus-source", "cumulative-differences", "mean-spectrum",
            "roc", "groups",
        )
    ]  # fmt: skip
    for name, figure in figures.items():
        left, top, right, bottom = figure["box"]
        assert 0 <= left < right <= width
        assert right - left >= 350
        assert bottom - top >= 120
        assert figure["marks"] > 10
        for text in figure["texts"]:
            x0, y0, x1, y1 = text["box"]
            inside = left - 1 <= x0 <= x1 <= right + 1 and top - 1 <= y0 <= y1 <= bottom + 1
            assert inside, (name, text)
            assert text["size"] >= 8, (name, text)


def test_labels_do_not_cover_each_other(view):
    assert_apart(view[2]["figures"])


def assert_apart(figures):
    for figure in figures:
        texts = [text for text in figure["texts"] if text["text"].strip()]
        for i, a in enumerate(texts):
            for b in texts[:i]:
                across = min(a["box"][2], b["box"][2]) - max(a["box"][0], b["box"][0])
                down = min(a["box"][3], b["box"][3]) - max(a["box"][1], b["box"][1])
                # Boxes of text hold a line's full height, more than its letters.
                assert across < 1 or down < 6, (figure["name"], a["text"], b["text"])


def test_colours_follow_the_theme(view):
    _, theme, measured, _ = view
    palette = PALETTES[theme]

    def as_rgb(colour):
        return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"

    assert measured["background"] == as_rgb(palette.background)
    assert measured["textColour"] in {as_rgb(palette.text), as_rgb(palette.muted)}


def several_classes():
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 1, (3000, 4))
    truth = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    y = (truth.cumsum(1) < rng.random((3000, 1))).sum(1).clip(0, 3)
    bold = np.exp(2 * logits)
    return report(y, bold / bold.sum(1, keepdims=True))


def models():
    rng = np.random.default_rng(11)
    evidence = rng.normal(0, 2, 3000)
    y = rng.random(3000) < 1 / (1 + np.exp(-evidence))
    names = {"the old model of last year": 2, "new": 1, "shy": 0.5}
    return comparison(y, {name: 1 / (1 + np.exp(-b * evidence)) for name, b in names.items()})


def intervals_and_sets():
    rng = np.random.default_rng(7)
    scale = rng.gamma(2, 1, 3000)
    evidence = Evidence(levels=[0.8, 0.95], width_edges=[2, 4, 8], hsic_bandwidth=2.0, sets=True)
    bounds = np.stack([np.stack([-q * scale, q * scale], 1) for q in (1.28, 2.5)], 2)
    sets = rng.random((3000, 9)) < 0.6
    evidence.update(rng.integers(0, 9, 3000), intervals=bounds, sets=sets)
    return Report.of(evidence)


def a_handful():
    y, p = [0, 1, 1, 0, 1, 0], [0.0, 1.0, 1.0, 1.0, 0.3, 0.4]
    return report(y, p, groups=list("aabbcc"))


def ranks():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(400, 2))
    truth = x + rng.normal(size=(400, 2))
    draws = x[:, None, :] + 0.6 * rng.normal(size=(400, 19, 2))
    table = {"theta": truth[:, 0], "a parameter with a long name": truth[:, 1]}
    table |= {"first": draws[:, :, 0], "second": draws[:, :, 1]}
    return Report.of(Evidence.of(table, truth=list(table)[:2], draws=["first", "second"]))


@pytest.mark.parametrize("make", [several_classes, models, intervals_and_sets, ranks, a_handful])
def test_other_pages_on_a_telephone(make, tmp_path):
    measured, console = opened(make().to_html(), 400, "light", tmp_path)
    assert console == []
    assert measured["resources"] == []
    assert measured["scrolled"] <= 400
    assert measured["tooWide"] == []
    assert len(measured["figures"]) >= 3
    assert_apart(measured["figures"])


def hostile_pages():
    rng = np.random.default_rng(3)
    n = 40 * 20  # a picture shows twenty groups
    p = rng.uniform(0.02, 0.98, n)
    y = (rng.random(n) < p).astype(int)
    for begin in range(0, len(HOSTILE), 20):
        names = HOSTILE[begin : begin + 20]
        keys = np.array(names, object)[np.arange(n) % 20]
        label, prob, group, *others = names
        columns = {label: y, prob: p, group: keys, **dict.fromkeys(others, y)}
        evidence = Evidence.of(columns, label=label, prob=prob, group=group)
        yield f"names {begin}", Report.of(evidence, title=names[-1])
    yield "comparison", comparison(y, dict.fromkeys(HOSTILE[15:40:8], p), title=HOSTILE[20])


def test_hostile_names_are_escaped_and_open(tmp_path):
    for name, made in hostile_pages():
        page = made.save(tmp_path / f"{name}.html").read_text("utf-8")
        assert json.loads(made.save(tmp_path / f"{name}.json").read_text("utf-8"))
        assert not [c for c in page if not c.isprintable() and c not in "\n\xa0"], name
        assert not re.search(r"<(script|img)|<[^>]* on\w+=", page), name
        measured, console = opened(page, 1400, "light", tmp_path)
        assert console == []
        assert measured["resources"] == []
        assert measured["tooWide"] == []
        assert len(measured["figures"]) >= 4, name


def printed(page, folder):
    """The pages, as PDF."""
    source, target = folder / "page.html", folder / "page.pdf"
    source.write_text(page, "utf-8")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    subprocess.run(
        [CHROMIUM, *flags, f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={target}",
         source.as_uri()],
        capture_output=True, timeout=300, check=True,
    )  # fmt: skip
    return target


def test_the_report_prints_on_few_pages(page, tmp_path):
    pdf = printed(page, tmp_path)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) <= 7
    if not shutil.which("pdftotext"):
        return
    texts = subprocess.run(
        ["pdftotext", "-layout", str(pdf), "-"], capture_output=True, text=True, check=True
    ).stdout.split("\f")
    assert "Scorecard" in texts[0]  # with the verdict, not alone on the second page
    headings = re.findall(r"<h2[^>]*>([^<]+)</h2>", page)
    for text in texts:
        last = [line.strip() for line in text.splitlines() if line.strip()][-2:]
        assert not [line for line in last if line in headings]
