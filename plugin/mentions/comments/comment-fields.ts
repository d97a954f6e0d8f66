// plugin/mentions/comments/comment-fields.ts: what a reader sends to the endpoint of comments. PROTOCOL 2.6
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { checkType, FORM, type HttpRequest, parseBody, readBody, readEssence } from "../../http/respond.js";
import { COMMENT_LENGTH, TRAP } from "../../site/comment-form.js";
import { plainLines } from "../../site/plain-lines.js";
import { cleanName, GUEST, isVisible } from "../../site/visible-name.js";
import { canParseUrl } from "../../url.js";
import { webUrlOrNull } from "../../web-url.js";

const TYPES = [FORM, "application/json"];
const BODY_LIMIT = 32 * 1024;

const typed = v.optional(v.string(), "");

const Fields = v.object({
  target: typed,
  text: typed,
  name: typed,
  site: typed,
  /** The hash or URL of the reply that it answers; empty for the post. */
  "reply-to": v.pipe(
    typed,
    v.trim(),
    v.transform((name) => (canParseUrl(name) ? name : name.toLowerCase())),
  ),
  mail: typed,
  /** How long the page was open, as the script says; empty without it. */
  seconds: typed,
  [TRAP]: typed,
});

/** The time that a person needs at least. A program that runs the page's script sends its comment at once. */
const READING_SECONDS = 2;

/** The fields as the reader has typed them; empty for missing ones. */
export type CommentFields = v.InferOutput<typeof Fields>;

/** The fields of an empty form. */
export const NOTHING_TYPED: CommentFields = v.parse(Fields, {});

/** What is shown of a comment. */
export interface CommentContents {
  /** Lines are separated by LF. */
  text: string;
  name: string;
  /** `null` for none. */
  site: string | null;
}

/** @throws TwtxtError `bad-content-type`, `body-too-large` */
export async function readBodyOfComment(request: HttpRequest): Promise<Uint8Array> {
  checkType(request, TYPES);
  return readBody(request, BODY_LIMIT);
}

/** @throws TwtxtError `bad-request` for anything but texts */
export function parseFields({ headers }: Pick<HttpRequest, "headers">, body: Uint8Array): CommentFields {
  const isForm = readEssence(headers.get("content-type")) === FORM;
  if (!isForm) return parseBody(Fields, body, 'Send the fields "target" and "text", each a text.');
  return v.parse(Fields, Object.fromEntries(new URLSearchParams(new TextDecoder().decode(body))));
}

/** @throws TwtxtError `bad-request` for a page that was opened just now, a text that is empty or too long, or an invalid site */
export function readContents({ text, name, site, seconds, ...others }: CommentFields): CommentContents {
  if (seconds !== "" && !(Number(seconds) >= READING_SECONDS)) {
    throw new TwtxtError("bad-request", `Wait ${READING_SECONDS} seconds after you have opened the page.`);
  }
  if (others[TRAP] !== "") throw new TwtxtError("bad-request", "Leave the hidden field empty.");
  const lines = plainLines(text).join("\n").trim();
  const { length } = [...lines];
  if (!isVisible(lines)) throw new TwtxtError("bad-request", "The comment is empty.");
  if (length > COMMENT_LENGTH) {
    throw new TwtxtError("bad-request", `The comment has ${length} characters. It can have ${COMMENT_LENGTH}.`);
  }
  return { text: lines, name: cleanName(name) ?? GUEST, site: readSite(site.trim()) };
}

/** The web site of a reader, typed with or without `https://`. @returns `null` for anything else */
export function toSiteUrl(typedSite: string): string | null {
  return webUrlOrNull(/^\w+:/.test(typedSite) ? typedSite : `https://${typedSite}`);
}

function readSite(typedSite: string): string | null {
  if (typedSite === "") return null;
  const url = toSiteUrl(typedSite);
  if (url === null) throw new TwtxtError("bad-request", "The web site must be a URL such as https://dana.example.");
  return url;
}
