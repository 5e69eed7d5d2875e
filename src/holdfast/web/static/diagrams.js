// Diagrams in texts: each Mermaid block is drawn in a frame of its own, which is sandboxed and has no network.
// The frame gets the source in a message, and answers with the size of the drawing or with what is wrong.
(() => {
  const FRAME = "/-/diagram";
  // More are not drawn, and a longer source is not sent.
  const MOST = 20;
  const LONGEST = 20000;
  const TALLEST = 2400;
  const frames = new Map();

  const waiting = (pre, source) => {
    const figure = document.createElement("figure");
    // A frame that is hidden has no width to draw for, so it has no height instead.
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
    frame.style.height = `${Math.min(Math.max(Math.ceil(height), 24), TALLEST)}px`;
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
    const remark = document.createElement("p");
    remark.className = "remark";
    remark.textContent = `This diagram cannot be shown: ${message}`;
    figure.replaceWith(remark, block);
    frames.delete(frame);
  };

  addEventListener("message", ({ source, data }) => {
    const frame = [...frames.keys()].find((one) => one.contentWindow === source);
    if (!frame || typeof data !== "object" || data === null) return;
    // Its origin is opaque, so no other can be named; only this frame gets the message.
    if (data.kind === "ready") frame.contentWindow.postMessage({ source: frames.get(frame).source }, "*");
    else if (data.kind === "size" && Number.isFinite(data.height)) show(frame, data.height);
    else if (data.kind === "error") fail(frame, String(data.message).slice(0, 300));
  });

  const blocks = [...document.querySelectorAll(".prose code.language-mermaid")].slice(0, MOST);
  for (const code of blocks) {
    const source = code.textContent;
    if (source.trim() && source.length <= LONGEST) waiting(code.parentElement, source);
  }
})();
