// Passkeys (WebAuthn): a button with data-passkey creates or uses a passkey, and submits its form with the response.
// The options are fetched from the URL in data-options of the form; its password field is sent along.
"use strict";
(() => {
  const buttons = document.querySelectorAll("button[data-passkey]");
  if (!buttons.length) return;
  const supported = Boolean(window.PublicKeyCredential && navigator.credentials);

  const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  const encode = (buffer) => {
    const text = Array.from(new Uint8Array(buffer), (one) => String.fromCharCode(one)).join("");
    return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  };
  const withDecodedIds = (known) => (known || []).map((one) => ({ ...one, id: decode(one.id) }));

  const requestCredential = {
    create: (options) => navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: decode(options.challenge),
        user: { ...options.user, id: decode(options.user.id) },
        excludeCredentials: withDecodedIds(options.excludeCredentials),
      },
    }),
    get: (options) => navigator.credentials.get({
      publicKey: { ...options, challenge: decode(options.challenge), allowCredentials: withDecodedIds(options.allowCredentials) },
    }),
  };
  const asJson = (credential) => {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[name]) response[name] = encode(credential.response[name]);
    }
    const { id, type } = credential;
    return JSON.stringify({ id, rawId: encode(credential.rawId), type, response });
  };

  const MESSAGES = {
    InvalidStateError: "This device already has a passkey for your account.",
    NotAllowedError: "No passkey was used: the request was cancelled, or took too long.",
    SecurityError: "Passkeys cannot be used at this address.",
  };
  const show = (form, text) => {
    const problem = form.querySelector("[data-passkey-problem]");
    problem.textContent = text;
    problem.hidden = !text;
  };

  const options = async (form) => {
    const body = new URLSearchParams();
    if (form.elements.password) body.set("password", form.elements.password.value);
    const response = await fetch(form.dataset.options, {
      method: "POST", headers: { Accept: "application/json" }, body,
    });
    const result = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(result.message || "The server did not answer. Try again.");
    return result;
  };
  const run = async (form, button) => {
    show(form, "");
    button.disabled = true;
    try {
      const credential = await requestCredential[button.dataset.passkey](await options(form));
      form.elements.credential.value = asJson(credential);
      form.submit();
    } catch (error) {
      show(form, MESSAGES[error.name] || error.message);
      button.disabled = false;
    }
  };

  // All fields except the code, which the passkey replaces.
  const isComplete = (form) => [...form.elements].every((one) => one.name === "code" || one.reportValidity());

  for (const button of buttons) {
    const { form } = button;
    if (!supported) {
      show(form, "This browser cannot use passkeys.");
      continue;
    }
    button.hidden = false;
    button.addEventListener("click", (event) => {
      event.preventDefault();
      if (isComplete(form)) run(form, button);
    });
  }
  // Enables the buttons when the page is restored from the back/forward cache.
  window.addEventListener("pageshow", () => {
    for (const button of buttons) button.disabled = false;
  });
})();
