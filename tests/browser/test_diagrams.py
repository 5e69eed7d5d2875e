"""Diagrams and formulas rendered in a browser; hostile sources are isolated."""

import base64
from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, Request, expect

from holdfast.web.bundles import BUNDLES
from tests.conftest import ADMIN_PASSWORD, Service

README = """# Tides

The level is $h(t) = h_0 + a \\sin(\\omega t)$, for $5 or $6 a day.

$$
\\begin{aligned} a &= \\frac{1}{2} \\\\ b &= \\sqrt{c} \\end{aligned}
$$

```math
\\int_0^1 x^2 \\, dx
```

```mermaid
flowchart LR
  low[Low water] --> rising --> high[High water]
```

```mermaid
sequenceDiagram
  Gauge->>Harbour: level
  Harbour-->>Gauge: thanks
```
"""
# Each tries to run code, to leave the frame or to load something.
HOSTILE = """
```mermaid
flowchart TD
  A["<img src=x onerror=parent.postMessage('owned','*')>"] --> B["<script>top.location='https://evil.example'</script>"]
  C["<iframe src='https://evil.example/frame'></iframe>"] --> D
  click D href "https://evil.example/click" "Open" _top
  click A call alert()
```

```mermaid
%%{init: {"securityLevel": "loose", "themeCSS": "svg { background: url(https://evil.example/css) }"}}%%
flowchart TD
  A["<b onclick=alert(1)>bold</b>"] --> B
  click B call document.write("owned")
```

```mermaid
---
config:
  securityLevel: loose
  layout: elk
---
flowchart TD
  X --> Y
```

$\\href{javascript:alert(1)}{x}$ and $\\class{owned}{y}$ and $\\includegraphics{https://evil.example/z}$

$\\def\\a{\\a\\a}\\a$ and $\\gdef\\q{leaked}\\q$ then $\\q$

$\\rule{9999em}{9999em}$ <span class="math">$\\text{<img src=x onerror=alert(1)>}$</span>
"""
BROKEN = "```mermaid\nflowchart LR\n  a --> b\n  b -->\n  --> [\n```\n\nand $\\frac{1}$\n"
# Elements of a drawing that could act, by their names and the attributes that would make them.
LIVE_ELEMENTS = """() => [...document.body.querySelectorAll("*")].filter(element => (
    /^(script|iframe|object|embed|form)$/i.test(element.localName)
    || [...element.attributes].some(({name}) => /^on/i.test(name))
    || (element.localName === "a" && [...element.attributes].some(({name}) => /href$/i.test(name)))
)).map(element => element.outerHTML)"""
Keep = Callable[[Page, str], None]


@pytest.fixture(autouse=True)
def built() -> None:
    """Skip where npm is missing, which the scripts are built with."""
    if not BUNDLES.address("diagram_frame"):
        pytest.skip("diagrams are not built: run `make assets`")


@pytest.fixture
def api(site: Service) -> Iterator[httpx.Client]:
    """Make an empty repository."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as client:
        assert client.post("/user/repos", json={"name": "tides"}).status_code == 201
        yield client


def add(api: httpx.Client, path: str, text: str) -> None:
    """Commit a file."""
    body = {"content": base64.b64encode(text.encode()).decode(), "message": "Write"}
    assert api.post(f"/repos/admin/tides/contents/{path}", json=body).status_code == 201


def test_a_readme_shows_its_diagrams_and_formulas(
    site: Service, api: httpx.Client, page: Page, keep: Keep
) -> None:
    """Diagrams are in sandboxed frames of their own height with their source, and "$5 or $6" is no formula."""
    add(api, "README.md", README)
    page.goto(f"{site.url}/admin/tides")
    expect(page.locator("math")).to_have_count(3)
    expect(page.get_by_text("for $5 or $6 a day")).to_be_visible()
    frames = page.locator(".diagram:not(.drawing) iframe")
    expect(frames).to_have_count(2)
    expect(page.frame_locator(".diagram iframe >> nth=0").get_by_text("High water")).to_be_visible()
    expect(page.frame_locator(".diagram iframe >> nth=1").get_by_text("thanks")).to_be_visible()
    for index in range(2):
        box = frames.nth(index).bounding_box()
        assert box is not None
        assert 24 < box["height"] < 800
    assert frames.first.get_attribute("sandbox") == "allow-scripts"
    # Frames are painted after the page around them.
    page.wait_for_timeout(300)
    keep(page, "diagrams")
    expect(page.get_by_text("flowchart LR")).to_be_hidden()
    page.get_by_text("Source of the diagram").first.click()
    expect(page.get_by_text("flowchart LR")).to_be_visible()


def test_hostile_sources_are_isolated(site: Service, api: httpx.Client, browser: Browser) -> None:
    """No script of a hostile diagram or formula runs, no other site is requested, and frames are sandboxed."""
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    messages: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.add_init_script(
        """window.noticed = [];
        addEventListener("message", ({data}) => { if (data === "owned") noticed.push(data); });
        addEventListener("securitypolicyviolation", event => noticed.push(event.violatedDirective));"""
    )
    add(api, "README.md", HOSTILE)
    page.goto(f"{site.url}/admin/tides")
    expect(page.locator(".diagram:not(.drawing) iframe")).to_have_count(3)
    for index, frame in enumerate(page.frames[1:]):
        expect(frame.locator("svg")).to_be_visible()
        assert frame.evaluate(LIVE_ELEMENTS) == [], index
        assert frame.evaluate("try { parent.document.title } catch (error) { error.name }") == "SecurityError"
        frame.locator(".node").last.click()
    expect(page.locator("math")).to_have_count(3)
    assert page.locator(".prose :is(img, script, math a, math [href], .owned, [onerror])").count() == 0
    # What a formula defines is gone with it.
    expect(page.locator(".math:not(.shown)", has_text="\\q")).to_have_text("$\\q$")
    page.wait_for_timeout(500)
    assert page.evaluate("noticed") == []
    assert messages == []
    assert [url for url in asked if not url.startswith(site.url)] == []
    assert page.url == f"{site.url}/admin/tides"
    context.close()


@pytest.mark.parametrize(("page", "scheme"), [("phone", "light")], indirect=True)
def test_an_invalid_source_is_shown_with_its_error(
    site: Service, api: httpx.Client, page: Page, keep: Keep
) -> None:
    """An invalid diagram shows its source and the line of the error, and an invalid formula its source."""
    add(api, "README.md", BROKEN)
    page.goto(f"{site.url}/admin/tides")
    expect(page.get_by_text("This diagram cannot be shown: Parse error on line 4")).to_be_visible()
    expect(page.locator("code.language-mermaid")).to_be_visible()
    expect(page.locator("iframe")).to_have_count(0)
    expect(page.locator(".math")).to_have_text("$\\frac{1}$")
    keep(page, "diagram-error")


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light")], indirect=True)
def test_long_sources_stay_as_they_are(site: Service, api: httpx.Client, page: Page) -> None:
    """A long formula and a large diagram are shown as source, and 3000 formulas take seconds at most."""
    long_formula = "$" + "x+" * 5_500 + "y$"
    nodes = "\n".join(f"  a{number} --> b{number}" for number in range(1300))
    text = f"{long_formula}\n\n```mermaid\nflowchart LR\n{nodes}\n```\n\n$z$\n"
    add(api, "README.md", text)
    page.goto(f"{site.url}/admin/tides")
    expect(page.locator("math")).to_have_count(1)
    expect(page.locator("iframe")).to_have_count(0)
    expect(page.locator("code.language-mermaid")).to_be_visible()
    huge = "$" + "\\frac{1}{2}" * 100_000 + "$"
    page.evaluate(
        """async text => {
            const script = document.querySelector("script[data-formulas]").dataset.formulas;
            const prose = document.querySelector(".prose");
            prose.replaceChildren();
            for (let number = 0; number < 3000; number++) {
                const span = document.createElement("span");
                span.className = "math";
                span.textContent = number ? "$\\\\def\\\\a#1{#1#1#1#1}\\\\a{\\\\a{\\\\a{x}}}$" : text;
                prose.append(span);
            }
            const before = performance.now();
            await import(`${script}?again`);
            window.took = performance.now() - before;
        }""",
        huge,
    )
    assert page.evaluate("window.took") < 8000
    expect(page.locator(".math").first).not_to_have_class("math shown")


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "dark")], indirect=True)
def test_a_file_and_a_comment_show_it(site: Service, api: httpx.Client, page: Page, keep: Keep) -> None:
    """A diagram is drawn in a file, which also has its source, and in the text of an issue."""
    add(api, "docs/flow.mmd", "flowchart LR\n  one --> two\n")
    page.goto(f"{site.url}/admin/tides/src/branch/main/docs/flow.mmd")
    expect(page.frame_locator(".diagram iframe").get_by_text("two")).to_be_visible()
    keep(page, "diagram-file")
    page.get_by_role("link", name="Source", exact=True).click()
    expect(page.locator("pre.code")).to_contain_text("one --> two")
    expect(page.locator("iframe")).to_have_count(0)
    body = {"title": "Flow", "body": '```mermaid\npie\n "a" : 3\n```'}
    issue = api.post("/repos/admin/tides/issues", json=body)
    page.goto(f"{site.url}/admin/tides/issues/{issue.json()['number']}")
    expect(page.locator(".diagram:not(.drawing) iframe")).to_have_count(1)


def test_without_scripts_the_sources_are_shown(site: Service, api: httpx.Client, browser: Browser) -> None:
    """Formulas are shown as text and diagrams as code if JavaScript is disabled."""
    add(api, "README.md", README)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.url}/admin/tides")
    expect(page.locator("span.math")).to_have_text("$h(t) = h_0 + a \\sin(\\omega t)$")
    expect(page.locator("code.language-mermaid")).to_have_count(2)
    context.close()


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light")], indirect=True)
def test_pages_without_diagrams_load_no_script(site: Service, api: httpx.Client, page: Page) -> None:
    """A page without diagrams loads no bundle, and a flowchart loads only some of the code for diagrams."""
    sizes: dict[str, int] = {}

    def note(request: Request) -> None:
        response = request.response()
        if response is not None and "/bundles/" in request.url:
            sizes[request.url] = int(response.headers.get("content-length", 0))

    page.on("requestfinished", note)
    add(api, "README.md", "# Plain\n\nfor $5 and $6\n")
    page.goto(f"{site.url}/admin/tides")
    page.wait_for_load_state("networkidle")
    assert sizes == {}
    add(api, "flow.mmd", "flowchart LR\n  one --> two\n")
    page.goto(f"{site.url}/admin/tides/src/branch/main/flow.mmd")
    expect(page.locator(".diagram:not(.drawing) iframe")).to_have_count(1)
    page.wait_for_load_state("networkidle")
    assert 50_000 < sum(sizes.values()) < 400_000, sum(sizes.values())


def test_a_diagram_changes_its_colours_with_the_page(site: Service, api: httpx.Client, page: Page) -> None:
    """It is drawn again in the other colour scheme, and stays as high as it was."""
    add(api, "README.md", "```mermaid\nflowchart LR\n  low[Low water] --> high[High water]\n```\n")
    page.emulate_media(color_scheme="light")
    page.goto(f"{site.url}/admin/tides")
    frame = page.locator(".diagram:not(.drawing) iframe")
    expect(frame).to_have_count(1)
    node = page.frame_locator(".diagram iframe").locator(".node rect").first
    height = frame.evaluate("frame => frame.offsetHeight")
    expect(node).to_have_css("fill", "rgb(236, 236, 255)")
    for scheme, fill in (("dark", "rgb(31, 32, 32)"), ("light", "rgb(236, 236, 255)")):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of its literals
        expect(node).to_have_css("fill", fill)
        expect(page.frame_locator(".diagram iframe").locator("svg")).to_have_count(1)
        assert frame.evaluate("frame => frame.offsetHeight") == height
