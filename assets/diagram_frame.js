// Draws the diagram whose source the page around this frame sends, with Mermaid. The frame is sandboxed and has no
// network, so whatever a source makes Mermaid do stays in here.
import mermaid from "mermaid";

const darkScheme = matchMedia("(prefers-color-scheme: dark)");
const configure = () => mermaid.initialize({
  startOnLoad: false,
  securityLevel: "strict",
  suppressErrorRendering: true,
  maxTextSize: 20_000,
  maxEdges: 500,
  layout: "dagre",
  theme: darkScheme.matches ? "dark" : "default",
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  // What a directive in the source may not change.
  secure: [
    "secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering", "fontFamily",
    "themeCSS", "dompurifyConfig",
  ],
});

const tell = (message) => parent.postMessage(message, "*");

let resizing;
const draw = async (source) => {
  configure();
  // Mermaid removes the drawing before it draws the next, which is no change of its size.
  resizing?.disconnect();
  try {
    const { svg } = await mermaid.render("diagram", source);
    document.body.innerHTML = svg;
  } catch (error) {
    tell({ kind: "error", message: String(error?.message ?? error).split("\n", 1)[0].replace(/:$/, "") });
    return;
  }
  const drawing = document.querySelector("svg");
  // Links would lead this frame away, which is all they could do here.
  for (const link of drawing.querySelectorAll("a")) {
    for (const name of ["href", "xlink:href", "target"]) link.removeAttribute(name);
  }
  const measure = () => tell({ kind: "size", height: drawing.getBoundingClientRect().height });
  measure();
  resizing = new ResizeObserver(measure);
  resizing.observe(drawing);
};

addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data?.source !== "string") return;
  let drawn = draw(data.source);
  // One after another: Mermaid has one configuration.
  darkScheme.addEventListener("change", () => { drawn = drawn.then(() => draw(data.source)); });
}, { once: true });
tell({ kind: "ready" });
