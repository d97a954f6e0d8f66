// plugin/client/messages/message-requests.ts: what the routes of the room share: the inbox, paths, and addresses in paths and forms.
import type { Hono } from "hono";
import type { Correspondence } from "../../author/messages/correspondence.js";
import { TwtxtError } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import type { BackgroundCount } from "../background-run.js";
import type { ClientEnv, ClientRequest } from "../client-request.js";
import type { ClientContext } from "../notices.js";

export const MESSAGES = "/messages";
export const UNVERIFIED = `${MESSAGES}/unverified`;
export const OUTBOX = `${MESSAGES}/outbox`;

export interface RoomParts extends ClientContext {
  routes: Hono<ClientEnv>;
  open(): Promise<Correspondence>;
  /** Unread messages of all conversations. */
  unread: BackgroundCount;
}

/** @throws TwtxtError `bad-address` */
export function readAddress(c: ClientRequest): string {
  return parseAddressText(c.req.param("address") ?? "");
}

/** @throws TwtxtError `bad-address` */
export function parseAddressText(text: string): string {
  const address = parseAddress(text);
  if (address === null) throw notAnAddress(text);
  return address;
}

export function notAnAddress(text: string): TwtxtError {
  return new TwtxtError("bad-address", `"${text.slice(0, 100)}" is not an address such as bob@bob.example.`);
}

export function conversationPath(address: string): string {
  return `${MESSAGES}/with/${encodeURIComponent(address)}`;
}

export function keyPath(address: string): string {
  return `${MESSAGES}/key/${encodeURIComponent(address)}`;
}
