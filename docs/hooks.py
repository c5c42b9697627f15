"""What MkDocs needs to be told so that docs/ is a site and plain Markdown at once.

Pages link to files outside of docs/, such as ../examples/quickstart.py, which is right where the
repository is read. On the site each such file becomes a page of its own under source/, and the
links lead there. Formulas become MathML, which browsers draw without script or fonts to fetch, and
public names in text become links to the reference.
"""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path

import latex2mathml.converter
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("CHANGELOG.md", "CONTRIBUTING.md")  # in the navigation
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".txt": "cmake", ".yml": "yaml"}
LINK = re.compile(r"(?<=\]\()([^()\s#:]+)(?=[#)])")
BAR = re.compile(r"<mo(?=[^>]*>&#x0007C;)")  # a fence, not an operator between two numbers
PUBLIC = re.compile(r"^::: (calibrant\.[a-z][\w.]*|calibrant\.[A-Z]\w*)$", re.MULTILINE)
SESSION = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)
CODE = re.compile(r"<code>([A-Za-z_][\w.]*)(\([^<]*\))?</code>")
KEPT = re.compile(  # where no link may be added
    r"(<(?:a|autoref|h\d|pre)\b.*?</(?:a|autoref|h\d|pre)>)", re.DOTALL
)
MATH = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every file of the repository that a page links to."""
    for name in ALWAYS:
        files.append(source_page(config, name))
    waiting = list(files.documentation_pages())
    while waiting:
        page = waiting.pop()
        for link in LINK.findall(page.content_string):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(origin_of(page)), link))
            if is_source(name) and files.get_file_from_path(place_of(name)) is None:
                files.append(source_page(config, name))
                waiting.append(files.src_uris[place_of(name)])
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Lead links to where their files are on the site; colour sessions, not their output."""
    here, origin = page.file.src_uri, origin_of(page.file)

    def on_site(link: re.Match[str]) -> str:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link[0]))
        if files.get_file_from_path(place_of(name)) is None:
            return link[0]
        return posixpath.relpath(place_of(name), posixpath.dirname(here) or ".")

    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    return SESSION.sub("```pycon\n", LINK.sub(on_site, markdown))


def on_page_content(content: str, **_: object) -> str:
    """Draw the formulas, and link public names to the reference."""
    parts = KEPT.split(MATH.sub(as_mathml, content))
    parts[::2] = [CODE.sub(as_reference, part) for part in parts[::2]]
    return "".join(parts)


def as_mathml(formula: re.Match[str]) -> str:
    latex = html.unescape(formula[2]).strip()
    latex = re.sub(r"\\(ln|exp) ", r"\\\1\\, ", latex)  # the converter leaves no space there
    display = "block" if formula[1] == "div" else "inline"
    drawn = latex2mathml.converter.convert(latex, display=display)
    return BAR.sub('<mo lspace="0" rspace="0"', drawn)


def as_reference(code: re.Match[str]) -> str:
    head, _, method = code[1].rpartition(".")
    known = NAMES.get(code[1]) or (head in NAMES and f"{NAMES[head]}.{method}")
    return f'<autoref identifier="{known}" optional>{code[0]}</autoref>' if known else code[0]


def public_names() -> dict[str, str]:
    """Names of the reference as texts have them: without calibrant, classes without a module."""
    names = {}
    for page in (ROOT / "docs" / "api").glob("*.md"):
        for full in PUBLIC.findall(page.read_text(encoding="utf-8")):
            short = full.removeprefix("calibrant.")
            names |= {full: full, short: full}
            if short.rpartition(".")[2][0].isupper():
                names.setdefault(short.rpartition(".")[2], full)
    return names


NAMES = public_names()


def is_source(name: str) -> bool:
    """Whether it is a file of the repository that MkDocs does not make a page of."""
    is_page = name.startswith("docs/") and not name.endswith(".py")
    return not is_page and not name.startswith("..") and (ROOT / name).is_file()


def place_of(name: str) -> str:
    """Where on the site a file of the repository is, seen from docs/."""
    if is_source(name):
        return f"source/{name}" if name.endswith(".md") else f"source/{name}.md"
    return name.removeprefix("docs/")


def origin_of(file: File) -> str:
    """Where in the repository a page of the site comes from."""
    if file.src_uri.startswith("source/"):
        return file.src_uri.removeprefix("source/")
    return f"docs/{file.src_uri}"


def source_page(config: MkDocsConfig, name: str) -> File:
    text = (ROOT / name).read_text(encoding="utf-8")
    if not name.endswith(".md"):
        fence = "`" * 4
        text = f"# {name}\n\n{fence}{LANGUAGES.get(Path(name).suffix, 'text')}\n{text}\n{fence}\n"
    return File.generated(config, place_of(name), content=text)
