// test/helpers/commenter.ts: comments on Alice's post, as readers send them.
import { signRequest } from "../../plugin/http/sign-request.js";
import type { Identity } from "../../plugin/keys/identity.js";
import type { StoredMention } from "../../plugin/mentions/mention.js";
import { identityOf } from "./identity.js";
import { PAGE, type Receiver } from "./receiver.js";

export const COMMENTS = "https://alice.example/comments";
export const ALICE = identityOf(2, "alice");
export const DANA = identityOf(9, "dana");
export const EVE = identityOf(10, "eve");

interface Sent {
  method?: "GET" | "POST" | "DELETE" | "OPTIONS";
  url?: string;
  /** `null` for an unsigned request. */
  signer?: Identity | null;
  address?: string;
  /** As a browser sends a form, without a signature. */
  isForm?: boolean;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  /** The JSON of the answer; an empty object for anything else. */
  json: Record<string, unknown> & { id?: string; state?: string; code?: string };
  text: string;
  headers: Headers;
}

/** A request as it is signed. It can be sent again. */
export function commentRequest(
  alice: Pick<Receiver, "clock">,
  fields: Record<string, string> | null,
  { method = "POST", url = COMMENTS, signer = DANA, isForm = false, headers = {} }: Sent = {},
): () => Request {
  const text = fields && (isForm ? new URLSearchParams(fields).toString() : JSON.stringify(fields));
  const body = text === null ? undefined : Buffer.from(text);
  const type = isForm ? "application/x-www-form-urlencoded" : "application/json";
  const sent = { ...(body && { "content-type": type }), ...(isForm && { accept: "text/html,*/*;q=0.8" }), ...headers };
  const isSigned = signer !== null && !isForm;
  const all = isSigned
    ? { ...sent, ...signRequest({ method, url, headers: sent, ...(body && { body }) }, signer, alice.clock.time) }
    : sent;
  return () => new Request(url, { method, headers: all, ...(body && { body }) });
}

/** Sends a comment on Alice's post, or another request to its endpoints. */
export async function comment(
  alice: Receiver,
  fields: Record<string, string> | null,
  sent: Sent = {},
): Promise<Answer> {
  const given = fields && (sent.url === undefined ? { target: PAGE, ...fields } : fields);
  const response = await alice.answer(commentRequest(alice, given, sent)(), sent.address);
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, json: isJson ? JSON.parse(text) : {}, text, headers: response.headers };
}

/** Decides as the author does. */
export async function decide(alice: Receiver, id: string | undefined, state: "shown" | "rejected"): Promise<number> {
  const [held] = (await managed(alice, "held")).filter((one) => one.id === id);
  const url = `https://alice.example/api/v1/mentions/${id}`;
  const body = Buffer.from(JSON.stringify({ state }));
  const headers = { "content-type": "application/json", ...(held && { "if-match": `"${held.version}"` }) };
  const signed = { ...headers, ...signRequest({ method: "POST", url, headers, body }, ALICE, alice.clock.time) };
  return (await alice.answer(new Request(url, { method: "POST", headers: signed, body }))).status;
}

/** The mentions in a state, as the author lists them. */
export async function managed(
  alice: Receiver,
  state: string,
): Promise<(Pick<StoredMention, "id" | "text" | "author"> & { version: string; source: string })[]> {
  const url = `https://alice.example/api/v1/mentions?state=${state}`;
  const headers = signRequest({ method: "GET", url }, ALICE, alice.clock.time);
  return Object(await (await alice.answer(new Request(url, { headers }))).json()).mentions;
}

/** The comments of a guest, as the guest lists them. */
export async function own(alice: Receiver, signer = DANA): Promise<Record<string, unknown>[]> {
  const url = `${COMMENTS}?guest=${signer.publicKey}`;
  return Object((await comment(alice, null, { method: "GET", url, signer })).json).comments as Record<
    string,
    unknown
  >[];
}
