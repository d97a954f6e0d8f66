// plugin/client/room.ts: the interface of the client's rooms.
import type { Hono } from "hono";
import type { Machine, OwnSiteChoice } from "../author/machine.js";
import type { ClientEnv } from "./client-request.js";
import type { Notices } from "./notices.js";

export interface ClientContext {
  machine: Machine;
  choice: OwnSiteChoice;
  notices: Notices;
  /** Is aborted when the client ends. Streams and long work end then. */
  ending: AbortSignal;
}

/** A key and what it does, for the help of a room. */
export interface KeyHelp {
  key: string;
  does: string;
}

/** What is new or waits in a room. */
export interface News {
  count: number;
  /** Such as "unread". */
  what: string;
}

/** A room of the client: a page of the navigation and everything below its path. */
export interface Room {
  title: string;
  /** Its first page, such as `/mentions`. All its routes start with it. */
  path: string;
  /** In the navigation: the `d` of an SVG path, lines in a square of 24. */
  icon: string;
  /** Keys of this room; `j`, `k` and `?` work in all rooms. A page lists those for which it has a `data-key`. */
  keys: readonly KeyHelp[];
  /** A number for the navigation, from memory: each page of each room shows it. */
  news?(): News;
  /** Loads what its first page needs, from this machine alone, before the author opens it. */
  prepare?(): Promise<void>;
  /** Waits for work that must not be interrupted. Called at the end of the client, after all requests are answered. */
  end?(): Promise<void>;
  /** Upper limit of a request's body, in bytes; default 1 MiB. */
  maxBodyBytes?: number;
  /** Its routes, with paths below {@link path}: `/` is the room's own page. */
  routes: Hono<ClientEnv>;
}

export type CreateRoom = (context: ClientContext) => Room;
