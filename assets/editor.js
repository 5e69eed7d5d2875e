// The editor of a file: CodeMirror over the text area of the form, which keeps the text and is what is sent.
//
// It stands in a shadow root, where CodeMirror's rules are constructed style sheets: the policy of pages allows neither
// style elements nor attributes. Colours are the custom properties of the page, which are inherited.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import {
  HighlightStyle, LanguageDescription, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting,
} from "@codemirror/language";
import { languages } from "@codemirror/language-data";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import {
  EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

// A longer text stays in the text area, which is faster.
const LONGEST = 1 << 20;
// Lines that are read to find out how a text is indented.
const SAMPLE = 500;

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: ".86rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", paddingBlock: ".5rem" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--text-muted)", backgroundColor: "var(--surface-muted)", borderRight: "1px solid var(--border)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent-muted) 45%, transparent)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-muted)" },
  ".cm-searchMatch": { color: "inherit", backgroundColor: "var(--marked)" },
  ".cm-searchMatch-selected": { color: "inherit", backgroundColor: "var(--warn-muted)", outline: "1px solid var(--warn)" },
  "&.cm-focused .cm-matchingBracket": { color: "inherit", backgroundColor: "var(--accent-muted)" },
  "&.cm-focused .cm-nonmatchingBracket": { color: "inherit", backgroundColor: "var(--bad-muted)" },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--surface-muted)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--border)" },
  ".cm-panel.cm-search": { display: "flex", flexWrap: "wrap", gap: ".35rem", padding: ".4rem 2.2rem .4rem .5rem" },
  ".cm-panel.cm-search br": { display: "none" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", gap: ".25rem", margin: "0", minHeight: "24px", fontSize: ".85rem" },
  ".cm-panel.cm-search input[type=checkbox]": { width: "1rem", height: "1rem", margin: "0", accentColor: "var(--accent)" },
  ".cm-textfield": { margin: "0", minHeight: "28px", fontSize: ".88rem", color: "var(--text)", backgroundColor: "var(--surface)", border: "1px solid var(--border-strong)", borderRadius: ".3rem" },
  ".cm-button": { margin: "0", minHeight: "28px", fontSize: ".85rem", color: "var(--text)", background: "var(--surface)", border: "1px solid var(--border-strong)", borderRadius: ".3rem", cursor: "pointer" },
  ".cm-button:hover, .cm-button:active": { background: "var(--surface-muted)" },
  ".cm-panel.cm-search [name=close]": { position: "absolute", top: ".3rem", right: ".4rem", width: "28px", height: "28px", color: "var(--text)", fontSize: "1.1rem", cursor: "pointer" },
  ":is(.cm-textfield, .cm-button, [name=close], input):focus-visible": { outline: "3px solid var(--accent)", outlineOffset: "1px" },
});

// The words of the search panel as buttons have them elsewhere on the site.
const PHRASES = {
  "next": "Next", "previous": "Previous", "all": "Select all", "match case": "Match case", "by word": "Whole word",
  "regexp": "Regular expression", "replace": "Replace", "replace all": "Replace all", "close": "Close",
};

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--c-comment)" },
  { tag: [tags.keyword, tags.tagName, tags.operatorKeyword, tags.modifier], color: "var(--c-word)" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--c-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--c-number)" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.variableName), tags.className, tags.typeName, tags.namespace], color: "var(--c-name)" },
  { tag: [tags.attributeName, tags.propertyName, tags.meta, tags.standard(tags.variableName)], color: "var(--c-other)" },
  { tag: [tags.link, tags.url], color: "var(--accent)" },
  { tag: [tags.heading, tags.strong], fontWeight: "650" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: tags.inserted, color: "var(--good)" },
  { tag: [tags.deleted, tags.invalid], color: "var(--bad)" },
]);

// Where a browser replaces selected text itself, it gives the new text the old one's colours in a style attribute, which
// the policy refuses. So text typed over a selection is inserted here, in the way CodeMirror inserts what was typed.
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const text = event.inputType === "insertText" ? event.data : null;
    const { from, to, empty } = view.state.selection.main;
    if (!text || empty || view.composing) return false;
    const insert = () => view.state.update(
      view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true },
    );
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
    event.preventDefault();
    return true;
  },
});

// The indentation most lines of a text have: a tab, or so many spaces; undefined for a text without any.
const indentationOf = (text) => {
  const counts = new Map();
  let before = 0;
  for (const line of text.split("\n", SAMPLE)) {
    if (!line.trim()) continue;
    const blank = line.match(/^[ \t]*/)[0];
    const step = blank.startsWith("\t") ? "\t" : blank.length - before;
    if (step === "\t" || step === 2 || step === 4 || step === 8) counts.set(step, (counts.get(step) ?? 0) + 1);
    before = blank.startsWith("\t") ? 0 : blank.length;
  }
  const [most] = [...counts].sort((one, other) => other[1] - one[1]);
  return most && (most[0] === "\t" ? "\t" : " ".repeat(most[0]));
};
// What languages without a text to go by are usually indented with.
const usualIndentation = (path) => {
  if (/(?:^|\/)(?:GNU)?[Mm]akefile$|\.(?:go|mk)$/.test(path)) return "\t";
  return /\.(?:[cm]?[jt]sx?|css|s[ac]ss|html?|json|lua|md|rb|ya?ml)$/i.test(path) ? "  " : "    ";
};
const isProse = (path) => /\.(?:md|markdown|mdown|mkd|txt|rst|adoc)$/i.test(path);

const option = (value, words, chosen) => {
  const made = document.createElement("option");
  made.value = value;
  made.textContent = words;
  made.selected = value === chosen;
  return made;
};

const start = (area) => {
  const form = area.form;
  const path = form.elements.namedItem("path");
  const label = form.querySelector(`label[for="${area.id}"]`);
  const indentation = indentationOf(area.value) ?? usualIndentation(path.value);
  const [unit, wrapping, language] = [new Compartment(), new Compartment(), new Compartment()];
  const indentedBy = (text) => [indentUnit.of(text), EditorState.tabSize.of(text === "\t" ? 4 : text.length)];

  const host = document.createElement("div");
  host.className = "editor";
  const root = host.attachShadow({ mode: "open" });
  area.before(host);
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), highlightSpecialChars(), history(),
        drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), highlightSelectionMatches(),
        search({ top: true }),
        typeOverSelection,
        EditorState.phrases.of(PHRASES),
        EditorState.allowMultipleSelections.of(true),
        syntaxHighlighting(colours),
        theme,
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
        unit.of(indentedBy(indentation)),
        wrapping.of(isProse(path.value) ? EditorView.lineWrapping : []),
        language.of([]),
        EditorView.contentAttributes.of({
          "aria-label": label.textContent,
          // Editable content takes the focus anyway; this says so to who looks for it.
          "tabindex": "0",
          "aria-description": "Press Escape and then Tab to leave the editor.",
        }),
        EditorView.updateListener.of((update) => { if (update.docChanged) area.value = update.state.doc.toString(); }),
      ],
    }),
  });

  // The language follows the name of the file; what is loaded last wins only while the name is still the same.
  let known;
  const highlight = async () => {
    const found = LanguageDescription.matchFilename(languages, path.value.split("/").at(-1));
    if (found === known) return;
    known = found;
    let support = [];
    try {
      support = found ? await found.load() : [];
    } catch {
      // Without the language there are no colours.
    }
    if (found === known) view.dispatch({ effects: language.reconfigure(support) });
  };
  highlight();
  path.addEventListener("input", highlight);

  const bar = document.createElement("div");
  bar.className = "editor-bar";
  const indent = document.createElement("select");
  const choices = [["  ", "2 spaces"], ["    ", "4 spaces"], ["        ", "8 spaces"], ["\t", "Tabs"]];
  indent.append(...choices.map(([value, words]) => option(value, words, indentation)));
  indent.addEventListener("change", () => view.dispatch({ effects: unit.reconfigure(indentedBy(indent.value)) }));
  const indentLabel = document.createElement("label");
  indentLabel.append("Indentation ", indent);
  const wrap = document.createElement("input");
  wrap.type = "checkbox";
  wrap.checked = isProse(path.value);
  wrap.addEventListener("change", () => {
    view.dispatch({ effects: wrapping.reconfigure(wrap.checked ? EditorView.lineWrapping : []) });
  });
  const wrapLabel = document.createElement("label");
  wrapLabel.className = "check";
  wrapLabel.append(wrap, "Wrap lines");
  const hint = document.createElement("span");
  hint.className = "hint";
  hint.textContent = "Tab indents. Press Escape and then Tab to leave the editor.";
  bar.append(indentLabel, wrapLabel, hint);
  host.before(bar);

  // A label names one element only, and the editor has its own name.
  area.hidden = true;
  label.removeAttribute("for");
  label.addEventListener("click", () => view.focus());
};

for (const area of document.querySelectorAll("textarea.editor")) {
  if (area.value.length <= LONGEST) start(area);
}
