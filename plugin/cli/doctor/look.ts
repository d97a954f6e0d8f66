// plugin/cli/doctor/look.ts: asks a server within the guard's bounds, and says in plain words where it does not answer.
import { TwtxtError } from "../../errors.js";
import { type Ask, type GuardedRequest, type GuardedResponse, isTimeout, OLD_TLS } from "../../http/guard.js";
import { essenceOf } from "../../http/media-type.js";
import { FOR_PRIVATE_HOSTS } from "../allowed-hosts.js";
import { type Finding, fix } from "./finding.js";

const MIB = 1024 * 1024;

/** An answer that was read to its end. */
export interface Seen extends Omit<GuardedResponse, "body" | "bytes" | "close"> {
  bytes: Buffer;
}

/** Asks a server. @returns its answer, or what is in the way of one */
export type Look = (url: string, request?: Partial<GuardedRequest>) => Promise<Seen | Finding>;

export function looking(ask: Ask): Look {
  return async (url, request = {}) => {
    const asked = { maxBytes: MIB, ...request };
    try {
      const { body, bytes, close, ...answer } = await ask(url, asked);
      // These have no body, even if a header says how it is compressed.
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
export function isSeen(answer: Seen | Finding): answer is Seen {
  return "status" in answer;
}

/** What is JSON, and an object; an empty one for anything else. */
export function jsonIn({ bytes }: Seen): Record<string, unknown> {
  try {
    return Object(JSON.parse(bytes.toString()));
  } catch {
    return {};
  }
}

/** The type of an answer in lower case, without its parameters. */
export function typeOf({ headers }: Seen): string {
  return essenceOf(headers["content-type"]);
}

function trouble(url: string, error: TwtxtError, { isHttpsNeeded = false, maxBytes }: GuardedRequest): Finding {
  switch (error.code) {
    case "address-refused":
      if (isHttpsNeeded && url.startsWith("http:")) return fix(error.message, "Serve your site by https.");
      return fix(error.message, FOR_PRIVATE_HOSTS);
    case "too-many-redirects":
      return fix(error.message, "Serve it at its own address, without redirects.");
    case "too-large":
      return fix(
        `${url} has more than ${maxBytes / MIB} MiB, or no end.`,
        "Nobody reads that much. Is it the right address?",
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
      `${url} takes too long: its answer did not begin within 5 s, or was not there within 10 s.`,
      "Other readers wait no longer either. Try again; if it stays so, your host can tell why.",
    );
  }
  if (/^(ENOTFOUND|EAI_)/.test(code)) {
    return fix(
      `There is no server for ${url}: its name is not known (${code}).`,
      "Is it spelled right? A new domain is known everywhere after some hours only.",
    );
  }
  if (code === "ECONNREFUSED") {
    return fix(`Nothing answers at ${url}.`, "Is its server running, and the port right?");
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
      "Renew it at your host: for this very name, and with the certificates in between.",
    );
  }
  return fix(`${url} gives no answer that can be read (${code || error.message}).`, "Try again; then ask your host.");
}

/** The system's own code, at the bottom of what went wrong. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code } = error as NodeJS.ErrnoException;
  return codeOf(error.cause) || (error instanceof TwtxtError ? "" : (code ?? ""));
}
