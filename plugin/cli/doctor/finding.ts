// plugin/cli/doctor/finding.ts: the result of a check, and requests whose failures are results too.
import { TwtxtError } from "../../errors.js";
import { type Ask, type GuardedRequest, type GuardedResponse, isTimeout, OLD_TLS } from "../../http/guard.js";
import { essenceOf } from "../../http/media-type.js";
import { FOR_PRIVATE_HOSTS } from "../options.js";

const MIB = 1024 * 1024;

/** The result of one check. */
export interface Finding {
  /** `fix` for a fault that affects peers, `note` for something that may be intended. */
  level: "ok" | "note" | "fix";
  /** A sentence. */
  what: string;
  /** Advice, a sentence or two. */
  todo?: string;
}

const LONGEST_QUOTE = 160;
const LONGEST = 1000;

export const ok = (what: string): Finding => ({ level: "ok", what: visible(what) });
export const note = (what: string, todo: string): Finding => ({
  level: "note",
  what: visible(what),
  todo: visible(todo),
});
export const fix = (what: string, todo: string): Finding => ({
  level: "fix",
  what: visible(what),
  todo: visible(todo),
});

/** Quotes a stranger's text. */
export function quoted(text: string): string {
  return `"${cut(text, LONGEST_QUOTE)}"`;
}

/** Escapes characters that are invisible, or that control the terminal. */
function visible(text: string): string {
  return cut(text, LONGEST).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** A complete answer. */
export interface Answer extends Omit<GuardedResponse, "body" | "bytes" | "close"> {
  bytes: Buffer;
}

/** Sends a request. @returns the answer, or a finding on why there is none */
export type Probe = (url: string, request?: Partial<GuardedRequest>) => Promise<Answer | Finding>;

export function probeWith(ask: Ask): Probe {
  return async (url, request = {}) => {
    const asked = { maxBytes: MIB, ...request };
    try {
      const { body, bytes, close, ...answer } = await ask(url, asked);
      // These have no body, even if a Content-Encoding header is present.
      const hasBody = asked.method !== "HEAD" && answer.status !== 304;
      if (!hasBody) close();
      return { ...answer, bytes: hasBody ? await bytes() : Buffer.alloc(0) };
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      return trouble(url, error, asked);
    }
  };
}

/** Whether there was an answer. */
export function isAnswer(answer: Answer | Finding): answer is Answer {
  return "status" in answer;
}

/** A JSON object; an empty one for anything else. */
export function jsonIn({ bytes }: Answer): Record<string, unknown> {
  try {
    return Object(JSON.parse(bytes.toString()));
  } catch {
    return {};
  }
}

/** The media type in lower case, without parameters. */
export function typeOf({ headers }: Answer): string {
  return essenceOf(headers["content-type"]);
}

function trouble(url: string, error: TwtxtError, { isHttpsNeeded = false, maxBytes }: GuardedRequest): Finding {
  switch (error.code) {
    case "address-refused":
      if (isHttpsNeeded && url.startsWith("http:")) return fix(error.message, "Serve your site over https.");
      return fix(error.message, FOR_PRIVATE_HOSTS);
    case "too-many-redirects":
      return fix(error.message, "Serve it at its own address, without redirects.");
    case "too-large":
      return fix(
        `${url} is larger than ${maxBytes / MIB} MiB, or endless.`,
        "Other sites do not read that much. Is it the right address?",
      );
    case "bad-compression":
      return fix(`${url}: ${error.message}`, "Have your host serve it without compression.");
    default:
      return unreachable(url, error);
  }
}

function unreachable(url: string, error: TwtxtError): Finding {
  const code = codeOf(error);
  if (isTimeout(error)) {
    return fix(
      `${url} is too slow: its answer did not start within 5 s, or did not end within 10 s.`,
      "Other readers do not wait longer either. Try again later, or ask your host.",
    );
  }
  if (/^(ENOTFOUND|EAI_)/.test(code)) {
    return fix(
      `There is no server for ${url}: its name is unknown (${code}).`,
      "Is it spelled correctly? A new domain takes some hours to be known everywhere.",
    );
  }
  if (code === "ECONNREFUSED") {
    return fix(`Nothing answers at ${url}.`, "Is its server running, and is the port correct?");
  }
  if (OLD_TLS.test(code)) {
    return fix(
      `The server of ${url} offers only TLS older than 1.2 (${code}).`,
      "Turn on TLS 1.2 or 1.3 at your host: other sites and browsers refuse older versions.",
    );
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code)) {
    return fix(
      `The certificate of ${url} is not accepted (${code}).`,
      "Renew it at your host, for this exact name and with the intermediate certificates.",
    );
  }
  return fix(`${url} gives no readable answer (${code || error.message}).`, "Try again, or ask your host.");
}

/** The system's code, of the innermost cause. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code } = error as NodeJS.ErrnoException;
  return codeOf(error.cause) || (error instanceof TwtxtError ? "" : (code ?? ""));
}
