// plugin/browser/client-pictures.ts: pictures in the composer by drop and paste, several at once, at the cursor.
import { convertPicture } from "./client-convert-picture.js";
import { takeDrops } from "./client-drops.js";

interface Composer {
  form: HTMLFormElement;
  text: HTMLTextAreaElement;
  fields: HTMLDetailsElement;
  input: HTMLInputElement;
  /** The media types of pictures that need no conversion. */
  accepted: string;
}

export function takePictures(): void {
  const fields = document.querySelector<HTMLDetailsElement>(".pictures");
  const input = fields?.querySelector<HTMLInputElement>("[type=file]");
  const form = input?.form;
  const text = form?.querySelector("textarea");
  if (!fields || !input || !form || !text) return;
  input.multiple = true;
  const accepted = input.accept;
  input.accept = `${accepted},${input.dataset.converted}`;
  const composer = { form, text, fields, input, accepted };
  input.addEventListener("change", () => void choose([...(input.files ?? [])], composer));
  takeDrops(form, (files) => add(files, composer));
  takePastes(composer);
  keepCursor(composer);
  askBeforeLeaving(input);
}

/** A text with a picture of it, as word processors copy it, is pasted as text. */
function takePastes(composer: Composer): void {
  composer.text.addEventListener("paste", (event) => {
    const { files, types } = event.clipboardData ?? new DataTransfer();
    if (files.length === 0 || types.includes("text/plain")) return;
    event.preventDefault();
    add([...files], composer);
  });
}

function add(files: readonly File[], composer: Composer): void {
  void choose([...(composer.input.files ?? []), ...files], composer);
}

/** Puts files into the field, in a format that can be added, and asks for a description of each. */
async function choose(given: readonly File[], { fields, input, accepted }: Composer): Promise<void> {
  const converted = await Promise.all(given.map((file) => convertPicture(file, accepted)));
  const files = converted.filter((file) => file !== null);
  const refused = given.filter((_, at) => converted[at] === null);
  const isTooLarge = files.reduce((sum, { size }) => sum + size, 0) > Number(fields.dataset.maxBytes);
  const chosen = new DataTransfer();
  for (const file of isTooLarge ? [] : files) chosen.items.add(file);
  input.files = chosen.files;
  askForDescriptions([...chosen.files], fields);
  fields.open = true;
  const status = fields.querySelector("[role=status]");
  const texts = [...refused.map(({ name }) => name + NOT_CONVERTED), describeChoice(files, isTooLarge)];
  if (status) status.textContent = texts.filter(Boolean).join(" ");
  if (chosen.files.length > 0) fields.querySelector<HTMLInputElement>(".description input")?.focus();
}

const NOT_CONVERTED =
  ' was left out: this browser cannot convert it. Save it as JPEG, then add it again. On an iPhone, Settings, Camera, Formats, "Most Compatible" takes JPEGs.';

function describeChoice([first, ...others]: readonly File[], isTooLarge: boolean): string {
  if (!first) return "";
  const isOne = others.length === 0;
  if (isTooLarge && isOne) return `${first.name} is too large. Make it smaller, then add it again.`;
  if (isTooLarge) return "These pictures are too large together. Add one after the other.";
  if (isOne) return "1 picture chosen. Describe it, then add it.";
  return `${others.length + 1} pictures chosen. Describe each, then add them.`;
}

/** One field for each file, with its name. */
function askForDescriptions(files: readonly File[], fields: HTMLElement): void {
  const [first, ...others] = fields.querySelectorAll<HTMLElement>(".description");
  if (!first) return;
  for (const other of others) other.remove();
  const all = files.map((_, at) => (at === 0 ? first : (first.cloneNode(true) as HTMLElement)));
  first.after(...all.slice(1));
  for (const [at, description] of all.entries()) {
    const label = description.querySelector("label");
    const input = description.querySelector("input");
    if (!label || !input) continue;
    if (at > 0) input.value = "";
    input.id = label.htmlFor = `description-${at}`;
    label.textContent = `Description of ${files[at]?.name}, for people who do not see it`;
  }
}

/** Sends the position of the cursor if the author has put it there, and returns to it after the picture was added. */
function keepCursor({ form, text }: Composer): void {
  let isPlaced = false;
  text.addEventListener("focus", () => {
    isPlaced = true;
  });
  form.addEventListener("formdata", ({ formData }) => {
    if (isPlaced) formData.set("cursor", String(text.selectionStart));
  });
  const cursor = new URL(location.href).searchParams.get("cursor") ?? (text.autofocus ? text.value.length : null);
  if (cursor === null) return;
  text.focus();
  text.setSelectionRange(Number(cursor), Number(cursor));
}

/** Files that were chosen but not added, and descriptions that were not saved, are lost when the page is left. */
function askBeforeLeaving(input: HTMLInputElement): void {
  let isSent = false;
  addEventListener("submit", ({ defaultPrevented }) => {
    isSent = !defaultPrevented;
  });
  addEventListener("beforeunload", (event) => {
    const descriptions = document.querySelectorAll<HTMLInputElement>(".picture input");
    const isTyped = [...descriptions].some(({ value }) => value !== "");
    if (!isSent && (isTyped || input.files?.length)) event.preventDefault();
  });
}
