// Diagrams in texts: each Mermaid block is drawn in its own sandboxed iframe without network access. The iframe gets
// the source with postMessage, and replies with the size of the drawing or with an error.
(() => {
  const FRAME = "/-/diagram";
  // The maximum number of diagrams, and the maximum length of a source.
  const MAX_DIAGRAMS = 20;
  const MAX_LENGTH = 20000;
  const MAX_HEIGHT = 2400;
  const frames = new Map();

  const addFrame = (pre, source) => {
    const figure = document.createElement("figure");
    // A hidden iframe would have no width to draw for, so its height is zero instead.
    figure.className = "diagram drawing";
    const frame = document.createElement("iframe");
    frame.title = "Diagram";
    frame.setAttribute("sandbox", "allow-scripts");
    frame.src = FRAME;
    figure.append(frame);
    const block = pre.closest(".copied-block") ?? pre;
    block.before(figure);
    frames.set(frame, { figure, block, source });
  };

  const show = (frame, height) => {
    const { figure, block } = frames.get(frame);
    frame.style.height = `${Math.min(Math.max(Math.ceil(height), 24), MAX_HEIGHT)}px`;
    if (!figure.classList.contains("drawing")) return;
    figure.classList.remove("drawing");
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "Source of the diagram";
    details.append(summary, block);
    figure.append(details);
  };

  const fail = (frame, message) => {
    const { figure, block } = frames.get(frame);
    const warning = document.createElement("p");
    warning.className = "warning-message";
    warning.textContent = `This diagram cannot be shown: ${message}`;
    figure.replaceWith(warning, block);
    frames.delete(frame);
  };

  addEventListener("message", ({ source, data }) => {
    const frame = [...frames.keys()].find((one) => one.contentWindow === source);
    if (!frame || typeof data !== "object" || data === null) return;
    // The origin of the iframe is opaque, so the target origin is "*"; only this iframe gets the message.
    if (data.kind === "ready") frame.contentWindow.postMessage({ source: frames.get(frame).source }, "*");
    else if (data.kind === "size" && Number.isFinite(data.height)) show(frame, data.height);
    else if (data.kind === "error") fail(frame, String(data.message).slice(0, 300));
  });

  const blocks = [...document.querySelectorAll(".prose code.language-mermaid")].slice(0, MAX_DIAGRAMS);
  for (const code of blocks) {
    const source = code.textContent;
    if (source.trim() && source.length <= MAX_LENGTH) addFrame(code.parentElement, source);
  }
})();
