// Sends the requests composed on the API reference page, and shows the responses.
const token = document.getElementById("token");
token.value = sessionStorage.getItem("token") ?? "";
token.addEventListener("input", () => sessionStorage.setItem("token", token.value));
document.getElementById("credentials").addEventListener("submit", (event) => event.preventDefault());

function address(form) {
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const field of form.querySelectorAll("input[data-in]")) {
    if (field.dataset.in === "path") {
      path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    } else if (field.value !== "") {
      query.append(field.name, field.value);
    }
  }
  const queryString = query.toString();
  return `/api/v1${path}${queryString ? `?${queryString}` : ""}`;
}

async function send(form) {
  const output = form.querySelector("output");
  const body = form.querySelector("textarea");
  const headers = {};
  if (token.value.trim()) headers.Authorization = `token ${token.value.trim()}`;
  if (body) headers["Content-Type"] = "application/json";
  output.textContent = "…";
  const started = performance.now();
  try {
    const response = await fetch(address(form), { method: form.dataset.method, headers, body: body ? body.value : undefined });
    const text = await response.text();
    let content = text;
    try { content = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: shown as it is */ }
    const names = ["content-type", "x-total-count", "link", "x-request-id"];
    const headerLines = names.filter((name) => response.headers.has(name)).map((name) => `${name}: ${response.headers.get(name)}`);
    const ms = Math.round(performance.now() - started);
    output.textContent = [`${response.status} ${response.statusText} in ${ms} ms`, ...headerLines, "", content].join("\n");
  } catch (error) {
    output.textContent = `The request failed: ${error.message}`;
  }
}

for (const form of document.querySelectorAll("form.request-form")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}
