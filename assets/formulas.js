// Formulas in texts: TeX becomes MathML, made by Temml. What cannot be rendered stays as it was written.
import temml from "temml";
import rules from "temml/dist/Temml-Local.css";

// A longer formula stays TeX, and so do those that come after so much time.
const LONGEST = 10_000;
const MOST_MILLISECONDS = 2_000;
const MATHML = "http://www.w3.org/1998/Math/MathML";
const OPTIONS = { throwOnError: true, trust: false, strict: false, maxExpand: 1000, maxSize: [40, 600] };

// The TeX of an element as it was written: $...$, $`...`$, $$...$$, or fenced code.
const parsed = (element) => {
  const text = element.textContent.trim();
  if (element.matches("code")) return { tex: text, displayMode: true };
  const found = text.match(/^(?:\$\$([^]+)\$\$|\$`([^]+)`\$|\$([^]+)\$)$/);
  return found && { tex: found[1] ?? found[2] ?? found[3], displayMode: found[1] !== undefined };
};

// Nothing but MathML without links or handlers, whatever a formula says.
const isHarmless = (math) => [math, ...math.querySelectorAll("*")].every((element) => (
  element.namespaceURI === MATHML && [...element.attributes].every(({ name }) => !/^on|href|src|^id$/i.test(name))
));

const render = (element) => {
  const formula = parsed(element);
  if (!formula || formula.tex.length > LONGEST) return;
  const { tex, displayMode } = formula;
  const place = document.createElement(displayMode ? "div" : "span");
  place.className = "math shown";
  try {
    // Definitions hold for one formula only.
    temml.render(tex, place, { ...OPTIONS, displayMode, macros: {} });
  } catch (error) {
    element.title = String(error?.message ?? error).trim().split("\n", 1)[0].slice(0, 300);
    return;
  }
  const math = place.firstElementChild;
  if (!math || !isHarmless(math)) return;
  math.setAttribute("alttext", tex);
  const pre = element.matches("code") ? element.parentElement : null;
  (pre ? pre.closest(".copied-block") ?? pre : element).replaceWith(place);
};

const sheet = new CSSStyleSheet();
sheet.replaceSync(rules);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
const end = performance.now() + MOST_MILLISECONDS;
for (const element of document.querySelectorAll(".prose :is(.math:not(.shown), code.language-math)")) {
  if (performance.now() > end) break;
  render(element);
}
