// plugin/browser/client-files.ts: the room of files: uploads by drop and paste without leaving the page, and buttons that copy.
import { takeDrops } from "./client-drops.js";
import { NEWS } from "./client-live.js";
import { announce } from "./client-notice.js";

/** Files that are read by the client at the same time. */
const AT_ONCE = 2;
/** Time after which the client lists a new upload. */
const LISTED_MS = 300;

const COPIED_MS = 2000;

/** Ends the requests of uploads that the client is reading, by their IDs. */
const reading = new Map<string, AbortController>();

export function enhanceFiles(): void {
  document.addEventListener("click", copy);
  for (const image of document.querySelectorAll<HTMLImageElement>(".preview img")) {
    if (image.complete && image.naturalWidth === 0) image.remove();
  }
  // Only the client knows whether a sealed file is a picture, once it has opened the file.
  const removeBroken = ({ target }: Event) => {
    if (target instanceof HTMLImageElement && target.closest(".preview")) target.remove();
  };
  document.addEventListener("error", removeBroken, { capture: true });
  const form = document.querySelector<HTMLFormElement>("#upload");
  if (form === null) return;
  form.addEventListener("submit", (event) => {
    const input = form.querySelector<HTMLInputElement>("[type=file]");
    if (!input?.files?.length) return;
    event.preventDefault();
    void upload(form, [...input.files]);
    input.value = "";
  });
  takeDrops(form, (files) => void upload(form, files));
  document.addEventListener("paste", ({ clipboardData }) => void upload(form, [...(clipboardData?.files ?? [])]));
  document.addEventListener("submit", (event) => {
    // Without leaving the page, which would stop its other uploads.
    if (event.target instanceof HTMLFormElement && event.target.closest("#uploads")) {
      event.preventDefault();
      void submit(event.target);
    }
  });
  window.addEventListener("beforeunload", (event) => {
    if (reading.size > 0) event.preventDefault();
  });
}

async function upload(form: HTMLFormElement, files: File[]): Promise<void> {
  const fields = new FormData(form);
  const choice = { visibility: String(fields.get("visibility")), clean: String(fields.get("clean")) };
  const token = String(fields.get("csrf"));
  const next = async () => {
    for (let file = files.shift(); file; file = files.shift()) await send(file, choice, token);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

async function send(file: File, choice: Record<string, string>, token: string): Promise<void> {
  const id = crypto.randomUUID();
  const ending = new AbortController();
  reading.set(id, ending);
  const timer = setTimeout(showNews, LISTED_MS);
  try {
    const address = `/files/add?${new URLSearchParams({ ...choice, name: file.name, id })}`;
    const headers = { "x-csrf-token": token };
    const { ok } = await fetch(address, { method: "POST", body: file, headers, signal: ending.signal });
    if (!ok) announce(`${file.name} could not be uploaded. Reload this page and try again.`);
  } catch {
    if (ending.signal.aborted) return;
    announce(`${file.name} was not read completely. The list of uploads says why, unless the client has ended.`);
  } finally {
    clearTimeout(timer);
    reading.delete(id);
    showNews();
  }
}

async function submit(form: HTMLFormElement): Promise<void> {
  const fields = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  const response = await fetch(form.action, { method: "POST", body: fields });
  const [, cancelled = ""] = /([^/]+)\/cancel$/.exec(form.action) ?? [];
  reading.get(cancelled)?.abort();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const notice = page.querySelector(".notice p, .failure")?.textContent;
  if (notice) announce(notice);
  // A part with the focus is not updated, so the focus moves out of it.
  const item = form.closest<HTMLElement>("[data-item]");
  if (form.contains(document.activeElement)) (item ?? document.querySelector<HTMLElement>("#main"))?.focus();
  showNews();
}

function copy({ target }: Event): void {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-copy]") : null;
  if (button === null) return;
  const { copy: text = "", hint = "" } = button.dataset;
  navigator.clipboard.writeText(text).then(
    () => {
      announce(`Copied ${text}. ${hint}`);
      const title = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = title;
      }, COPIED_MS);
    },
    () => {
      const details = button.closest("[data-item]")?.querySelector<HTMLDetailsElement>("details.unscripted");
      details?.classList.remove("unscripted");
      details?.setAttribute("open", "");
      announce("The browser did not allow copying. Copy the text under “Text to paste” yourself.");
    },
  );
}

function showNews(): void {
  document.dispatchEvent(new Event(NEWS));
}
