// plugin/client/messages/message-requests.ts: what the routes of the room share: the inbox, actions, and addresses in paths and forms.
import type { Context, Hono } from "hono";
import type { Correspondence } from "../../author/messages/correspondence.js";
import { TwtxtError } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import type { BackgroundCount } from "../background-count.js";
import type { ClientEnv, Notice } from "../client-env.js";
import { type FormFields, formOf } from "../form-fields.js";
import type { Notices } from "../notices.js";
import type { ClientContext } from "../room.js";

export type RoomContext = Context<ClientEnv>;

/** Opens the inbox. */
type Open = () => Promise<Correspondence>;

export interface RoomParts {
  routes: Hono<ClientEnv>;
  open: Open;
  /** Unread messages of all conversations. */
  unread: BackgroundCount;
  context: ClientContext;
  notices: Notices;
}

/** @returns a function that adds an action: its path, the page that it leads to, and what it does */
export function actionsOf({ routes, open, notices }: RoomParts) {
  return (
    path: string,
    goesTo: (fields: FormFields) => string,
    work: (fields: FormFields, all: Correspondence) => Promise<Notice>,
  ) =>
    routes.post(path, async (c) => {
      const fields = await formOf(c);
      return notices.act(c, goesTo(fields), async () => work(fields, await open()));
    });
}

/** @returns `null` if the form has no file of this name, or an empty choice */
export async function fileIn(c: RoomContext, name: string): Promise<File | null> {
  const value = (await c.req.parseBody())[name];
  return value instanceof File && value.name !== "" ? value : null;
}

/** @throws TwtxtError `bad-address` */
export function addressIn(c: RoomContext): string {
  return addressOf(c.req.param("address") ?? "");
}

/** @throws TwtxtError `bad-address` */
export function addressOf(text: string): string {
  const address = parseAddress(text);
  if (address === null) throw notAnAddress(text);
  return address;
}

export function notAnAddress(text: string): TwtxtError {
  return new TwtxtError("bad-address", `"${text.slice(0, 100)}" is not an address such as bob@bob.example.`);
}
