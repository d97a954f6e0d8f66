// plugin/author/doctor/check.ts: findings, and requests that end a check if they get no answer.
import { TwtxtError } from "../../errors.js";
import { type Ask, type GuardedRequest, type GuardedResponse, isTimeout, OLD_TLS } from "../../http/guard.js";
import { readEssence } from "../../http/respond.js";
import { counted } from "../amounts.js";
import { privateHostAdvice, readPrivateHosts } from "../network.js";

const MIB = 1024 * 1024;
const MAX_QUOTE = 160;
const MAX_TEXT = 1000;

export interface Finding {
  /** `fix` for a fault that affects peers, `note` for something that may be intended. */
  level: "ok" | "note" | "fix";
  /** A sentence. */
  what: string;
  /** Advice, a sentence or two. */
  todo?: string;
}

/** A line for the finding, and one for the advice. */
export function formatFinding({ level, what, todo }: Finding): string {
  return `${level.padEnd(4)}  ${what}${todo === undefined ? "" : `\n      ${todo}`}`;
}

/** @example "2 things to fix" */
export function sumFaults(findings: readonly Finding[]): string {
  const { length } = findings.filter(({ level }) => level === "fix");
  return `${length === 0 ? "Nothing" : counted(length, "thing")} to fix`;
}

/** A check yields its findings in the order in which they are shown. */
export type Check = Iterable<Finding> | AsyncIterable<Finding>;

export const ok = (what: string): Finding => ({ level: "ok", what: visible(what) });
export const note = (what: string, todo: string) => advice("note", what, todo);
export const fix = (what: string, todo: string) => advice("fix", what, todo);

function advice(level: Finding["level"], what: string, todo: string): Finding {
  return { level, what: visible(what), todo: visible(todo) };
}

/** Advice about headers, which authors set in different ways at each host. */
export function atHost(advice: string): string {
  return `${advice} docs/hosts.md of the plugin shows how.`;
}

export function quoted(text: string): string {
  return `"${cut(text, MAX_QUOTE)}"`;
}

/** Escapes characters that are invisible, or that control the terminal. */
function visible(text: string): string {
  return cut(text, MAX_TEXT).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

export interface Answer extends Pick<GuardedResponse, "status" | "headers" | "url" | "asked"> {
  bytes: Buffer;
  /** The media type in lower case, without parameters. */
  type: string;
  /** Whether scripts of other sites can read it. */
  isForBrowsers: boolean;
}

/** Sends a request. @throws NoAnswer */
export type Probe = (url: string, request?: Partial<GuardedRequest>) => Promise<Answer>;

class NoAnswer extends Error {
  constructor(readonly finding: Finding) {
    super(finding.what);
  }
}

/** Runs checks one after the other. A request without an answer ends its check, with a finding that says why. */
export async function* runChecks(...checks: Check[]): AsyncGenerator<Finding> {
  for (const check of checks) {
    try {
      yield* check;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      yield error.finding;
    }
  }
}

/** @returns `null` for a request without an answer */
export function answerOrNull(answer: Promise<Answer>): Promise<Answer | null> {
  return answer.catch((error) => {
    if (error instanceof NoAnswer) return null;
    throw error;
  });
}

export function probeWith(ask: Ask): Probe {
  return async (url, request = {}) => {
    const asked = { maxBytes: MIB, ...request };
    try {
      const { body, bytes, close, ...answer } = await ask(url, asked);
      // These have no body, even if a Content-Encoding header is present.
      const hasBody = asked.method !== "HEAD" && answer.status !== 304;
      if (!hasBody) close();
      return {
        ...answer,
        bytes: hasBody ? await bytes() : Buffer.alloc(0),
        type: readEssence(answer.headers["content-type"]),
        isForBrowsers: answer.headers["access-control-allow-origin"] === "*",
      };
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      throw new NoAnswer(refused(url, error, asked) ?? unreachable(url, error));
    }
  };
}

/** A JSON object; an empty one for anything else. */
export function parseJson({ bytes }: Answer): Record<string, unknown> {
  try {
    return Object(JSON.parse(bytes.toString()));
  } catch {
    return {};
  }
}

/** @returns `null` for an error that the guard did not raise itself */
function refused(url: string, error: TwtxtError, request: GuardedRequest): Finding | null {
  const { code, message } = error;
  switch (code) {
    case "address-refused": {
      const isPlain = request.isHttpsNeeded && url.startsWith("http:");
      return fix(message, isPlain ? "Serve your site over https." : privateHostAdvice(readPrivateHosts(error)));
    }
    case "too-many-redirects":
      return fix(message, "Serve it at its own address, without redirects.");
    case "too-large": {
      const what = `${url} is larger than ${request.maxBytes / MIB} MiB, or endless.`;
      return fix(what, "Check the address: other sites do not read that much.");
    }
    case "bad-compression":
      return fix(`${url}: ${message}`, "Have your host serve it without compression.");
    default:
      return null;
  }
}

/** Faults of the network by the system's error code: what is wrong, and what to do. */
const FAULTS: readonly (readonly [code: RegExp, what: (url: string, code: string) => string, todo: string])[] = [
  [
    /^(ENOTFOUND|EAI_)/,
    (url, code) => `There is no server for ${url}: its name is unknown (${code}).`,
    "Check the network of this machine, and the spelling. A new domain takes some hours to be known everywhere.",
  ],
  [/^ECONNREFUSED$/, (url) => `Nothing answers at ${url}.`, "Start its server, or correct the port."],
  [
    OLD_TLS,
    (url, code) => `The server of ${url} offers only TLS older than 1.2 (${code}).`,
    "Turn on TLS 1.2 or 1.3 at your host: other sites and browsers refuse older versions.",
  ],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/,
    (url, code) => `The certificate of ${url} is not accepted (${code}).`,
    "Renew it at your host, for this exact name and with the intermediate certificates.",
  ],
];

function unreachable(url: string, error: TwtxtError): Finding {
  if (isTimeout(error)) {
    return fix(
      `${url} is too slow: its answer did not start within 5 s, or did not end within 10 s.`,
      "Other readers do not wait longer either. Try again later, or ask your host.",
    );
  }
  const code = errorCode(error);
  for (const [pattern, what, todo] of FAULTS) if (pattern.test(code)) return fix(what(url, code), todo);
  return fix(`${url} gives no readable answer (${code || error.message}).`, "Try again, or ask your host.");
}

/** The system's code, of the innermost cause. */
function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code } = error as NodeJS.ErrnoException;
  return errorCode(error.cause) || (error instanceof TwtxtError ? "" : (code ?? ""));
}
