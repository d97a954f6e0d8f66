// plugin/client/notices.ts: the interface of the client's rooms, and results of actions, shown on the page that a form leads to.
import { randomBytes } from "node:crypto";
import type { Hono } from "hono";
import type { Machine, OwnSiteChoice } from "../author/machine.js";
import type { Outcome } from "../author/outcome.js";
import type { Site } from "../author/site.js";
import { ifTwtxtError, TwtxtError } from "../errors.js";
import { type ClientEnv, type ClientRequest, type FormFields, readForm } from "./client-request.js";

export const UNDO_PATH = "/undo";
/** Names a notice, in queries and forms. */
export const PARAMETER = "notice";
/** A page that is reloaded shows its notice again, so the last notices are kept. */
const MAX_NOTICES = 50;

export interface Notice extends Outcome {
  id: string;
  path: string;
}

/** The last notices of this process. A page names its notice by an unguessable ID, so that no link can make one up. */
export class Notices {
  readonly #notices = new Map<string, Notice>();

  /** The notice of the page that is requested; `null` for none. */
  of(c: ClientRequest): Notice | null {
    return this.#notices.get(c.req.query(PARAMETER) ?? "") ?? null;
  }

  redirect(c: ClientRequest, path: string, outcome: Outcome): Response {
    const id = randomBytes(9).toString("base64url");
    this.#notices.set(id, { ...outcome, id, path });
    for (const old of [...this.#notices.keys()].slice(0, -MAX_NOTICES)) this.#notices.delete(old);
    return c.redirect(`${path}${path.includes("?") ? "&" : "?"}${PARAMETER}=${id}`, 303);
  }

  /** Answers a request, or redirects to a page that shows why that failed. */
  orRedirect(c: ClientRequest, path: string, answer: () => Promise<Response>): Promise<Response> {
    return answer().catch(ifTwtxtError(({ message }) => this.redirect(c, path, { text: message, isFailure: true })));
  }

  /**
   * Runs the action of a form, and redirects to a page that shows its result, or why it failed.
   *
   * @param path - of the page, perhaps with a query
   * @param action - resolves with `null` if the page itself shows the result
   * @param failurePath - of the page that shows a failure, such as the form with what was typed
   */
  act(c: ClientRequest, path: string, action: () => Promise<Outcome | null>, failurePath = path): Promise<Response> {
    return this.orRedirect(c, failurePath, async () => {
      const outcome = await action();
      return outcome === null ? c.redirect(path, 303) : this.redirect(c, path, outcome);
    });
  }

  /**
   * Adds the route of a form whose action leads to a page.
   *
   * @param page - the path of the page, which may depend on the form
   * @param action - as in {@link act}
   */
  addForm(
    routes: Hono<ClientEnv>,
    path: string,
    page: string | ((form: FormFields, c: ClientRequest) => string),
    action: (form: FormFields, c: ClientRequest) => Promise<Outcome | null>,
  ): void {
    routes.post(path, async (c) => {
      const form = await readForm(c);
      return this.act(c, typeof page === "string" ? page : page(form, c), () => action(form, c));
    });
  }

  /** Adds the route that undoes the action of a notice, and leads back to its page. */
  addUndo(routes: Hono<ClientEnv>): void {
    routes.post(UNDO_PATH, async (c) => {
      const notice = this.#notices.get((await readForm(c))[PARAMETER] ?? "");
      if (!notice?.undo) throw new TwtxtError("not-found", "This action can no longer be undone.");
      return this.act(c, notice.path, notice.undo);
    });
  }
}

export interface ClientContext {
  machine: Machine;
  choice: OwnSiteChoice;
  /** The site as it is built now. @throws TwtxtError `no-settings` */
  openSite(): Promise<Site>;
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
