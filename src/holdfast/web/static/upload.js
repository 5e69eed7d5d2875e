// Uploads a chat backup in chunks, with retries; an interrupted upload resumes when the same files are chosen again.
// Without this script the form uploads a single file.
"use strict";
(() => {
  const form = document.getElementById("upload");
  if (!form) return;
  const find = (name) => document.getElementById(name);
  const [file, folder, panel, bar] = [find("file"), find("folder"), find("upload-progress"), find("upload-bar")];
  const [state, amount, pause] = [find("upload-status"), find("upload-amount"), find("upload-pause")];
  const SIDE_BY_SIDE = 3;
  const TRIES = 6;
  const requests = new Set();
  let chosen = null;
  let paused = false;

  // Either a file or a folder is chosen.
  find("with-folder").hidden = false;
  const choose = (one, other) => one.addEventListener("change", () => {
    other.value = "";
    file.required = !folder.files.length;
  });
  choose(file, folder);
  choose(folder, file);

  class Refused extends Error {}

  const ask = (method, address, body, headers = {}, onprogress = null) => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    requests.add(request);
    request.open(method, address);
    request.setRequestHeader("Accept", "application/json");
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (onprogress) request.upload.addEventListener("progress", (event) => onprogress(event.loaded));
    request.addEventListener("loadend", () => {
      requests.delete(request);
      if (!request.status) reject(new Error("The connection was lost."));
      else resolve(request);
    });
    request.send(body);
  });
  const answer = (request) => {
    try {
      return JSON.parse(request.responseText);
    } catch {
      return {};
    }
  };
  const check = (request) => {
    if (request.status < 300) return request;
    const message = answer(request).message || "The upload was refused.";
    // Server errors and rate limits are retried.
    throw request.status >= 500 || request.status === 429 ? new Error(message) : new Refused(message);
  };
  const patiently = async (attempt) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (paused || error instanceof Refused || tries === TRIES) throw error;
        await new Promise((resolve) => { setTimeout(resolve, 500 * 2 ** tries); });
        if (paused) throw error;
      }
    }
  };

  const size = (bytes) => `${(bytes / 2 ** 20).toLocaleString("en", { maximumFractionDigits: 1 })} MiB`;
  const show = (sent) => {
    const done = sent.reduce((sum, one) => sum + one, 0);
    bar.value = chosen.total ? done / chosen.total : 1;
    amount.textContent = `${size(done)} of ${size(chosen.total)}`;
  };

  const sendFile = async (begun, sent, position) => {
    const content = chosen.files[position];
    while (sent[position] < content.size && !paused) {
      const offset = sent[position];
      const chunk = content.slice(offset, offset + begun.chunk_bytes);
      const address = `${begun.address}/${position}`;
      const headers = { "Content-Type": "application/octet-stream", "Upload-Offset": String(offset) };
      const request = await patiently(() => ask("PATCH", address, chunk, headers, (loaded) => {
        sent[position] = offset + Math.min(loaded, chunk.size);
        show(sent);
      }).then((found) => (found.status === 409 ? found : check(found))));
      // The current offset of the server; it differs from the expected one if a response was lost.
      const known = request.getResponseHeader("Upload-Offset");
      if (known === null) check(request);
      sent[position] = Number(known);
      show(sent);
    }
  };

  const run = async () => {
    paused = false;
    pause.textContent = "Pause";
    state.textContent = "Uploading …";
    const described = {
      name: chosen.name,
      is_folder: chosen.isFolder,
      files: chosen.files.map((one) => ({
        path: chosen.isFolder ? one.webkitRelativePath : one.name, size: one.size, modified: one.lastModified,
      })),
    };
    const json = { "Content-Type": "application/json" };
    try {
      const uploads = form.dataset.uploads;
      const begun = answer(await patiently(() => ask("POST", uploads, JSON.stringify(described), json).then(check)));
      const sent = [...begun.received];
      show(sent);
      let next = 0;
      const work = async () => {
        while (next < chosen.files.length && !paused) await sendFile(begun, sent, next++);
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
      if (paused) return;
      state.textContent = "Checking …";
      const done = answer(await patiently(() => ask("POST", `${begun.address}/complete`, null).then(check)));
      location.assign(done.address);
    } catch (error) {
      if (paused) return;
      stop();
      state.textContent = error instanceof Refused ? error.message : `Interrupted: ${error.message}`;
      if (error instanceof Refused) form.hidden = false;
      pause.hidden = error instanceof Refused;
    }
  };
  const stop = () => {
    paused = true;
    pause.textContent = "Resume";
    for (const request of requests) request.abort();
  };

  pause.addEventListener("click", () => {
    if (paused) {
      run();
    } else {
      stop();
      state.textContent = "Paused.";
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const isFolder = folder.files.length > 0;
    const files = [...(isFolder ? folder : file).files];
    if (!files.length) return;
    const name = isFolder ? files[0].webkitRelativePath.split("/")[0] : files[0].name;
    chosen = { files, isFolder, name, total: files.reduce((sum, one) => sum + one.size, 0) };
    find("upload-name").textContent = name;
    form.hidden = true;
    panel.hidden = false;
    pause.hidden = false;
    run();
  });
})();
