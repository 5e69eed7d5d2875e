// Uploads a chat backup in chunks, with retries; an interrupted upload resumes when the same files are selected again.
// Without this script the form uploads a single file.
"use strict";
(() => {
  const form = document.getElementById("upload");
  if (!form) return;
  const find = (name) => document.getElementById(name);
  const [file, folder, panel, bar] = [find("file"), find("folder"), find("upload-progress"), find("upload-bar")];
  const [state, amount, pause] = [find("upload-status"), find("upload-amount"), find("upload-pause")];
  const MAX_CONCURRENT = 3;
  const MAX_ATTEMPTS = 6;
  const requests = new Set();
  let selected = null;
  let paused = false;

  // Either a file or a folder is selected.
  find("with-folder").hidden = false;
  const choose = (one, other) => one.addEventListener("change", () => {
    other.value = "";
    file.required = !folder.files.length;
  });
  choose(file, folder);
  choose(folder, file);

  class UploadRejected extends Error {}

  const sendRequest = (method, address, body, headers = {}, onprogress = null) => new Promise((resolve, reject) => {
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
  const parseBody = (request) => {
    try {
      return JSON.parse(request.responseText);
    } catch {
      return {};
    }
  };
  const check = (request) => {
    if (request.status < 300) return request;
    const message = parseBody(request).message || "The upload was refused.";
    // Server errors and rate limits are retried.
    throw request.status >= 500 || request.status === 429 ? new Error(message) : new UploadRejected(message);
  };
  const withRetries = async (attempt) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (paused || error instanceof UploadRejected || tries === MAX_ATTEMPTS) throw error;
        await new Promise((resolve) => { setTimeout(resolve, 500 * 2 ** tries); });
        if (paused) throw error;
      }
    }
  };

  const size = (bytes) => `${(bytes / 2 ** 20).toLocaleString("en", { maximumFractionDigits: 1 })} MiB`;
  const show = (sent) => {
    const done = sent.reduce((sum, one) => sum + one, 0);
    bar.value = selected.total ? done / selected.total : 1;
    amount.textContent = `${size(done)} of ${size(selected.total)}`;
  };

  const sendFile = async (upload, sent, position) => {
    const content = selected.files[position];
    while (sent[position] < content.size && !paused) {
      const offset = sent[position];
      const chunk = content.slice(offset, offset + upload.chunk_bytes);
      const address = `${upload.address}/${position}`;
      const headers = { "Content-Type": "application/octet-stream", "Upload-Offset": String(offset) };
      const request = await withRetries(() => sendRequest("PATCH", address, chunk, headers, (loaded) => {
        sent[position] = offset + Math.min(loaded, chunk.size);
        show(sent);
      }).then((response) => (response.status === 409 ? response : check(response))));
      // The current offset of the server; it differs from the expected one if a response was lost.
      const offsetOnServer = request.getResponseHeader("Upload-Offset");
      if (offsetOnServer === null) check(request);
      sent[position] = Number(offsetOnServer);
      show(sent);
    }
  };

  const run = async () => {
    paused = false;
    pause.textContent = "Pause";
    state.textContent = "Uploading …";
    const described = {
      name: selected.name,
      is_folder: selected.isFolder,
      files: selected.files.map((one) => ({
        path: selected.isFolder ? one.webkitRelativePath : one.name, size: one.size, modified: one.lastModified,
      })),
    };
    const json = { "Content-Type": "application/json" };
    try {
      const uploads = form.dataset.uploads;
      const upload = parseBody(await withRetries(() => sendRequest("POST", uploads, JSON.stringify(described), json).then(check)));
      const sent = [...upload.received];
      show(sent);
      let next = 0;
      const work = async () => {
        while (next < selected.files.length && !paused) await sendFile(upload, sent, next++);
      };
      await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
      if (paused) return;
      state.textContent = "Checking …";
      const done = parseBody(await withRetries(() => sendRequest("POST", `${upload.address}/complete`, null).then(check)));
      location.assign(done.address);
    } catch (error) {
      if (paused) return;
      stop();
      state.textContent = error instanceof UploadRejected ? error.message : `Interrupted: ${error.message}`;
      if (error instanceof UploadRejected) form.hidden = false;
      pause.hidden = error instanceof UploadRejected;
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
    selected = { files, isFolder, name, total: files.reduce((sum, one) => sum + one.size, 0) };
    find("upload-name").textContent = name;
    form.hidden = true;
    panel.hidden = false;
    pause.hidden = false;
    run();
  });
})();
