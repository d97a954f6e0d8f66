// plugin/client/notices.ts: results of actions, shown on the page that a form leads to.
import { randomBytes } from "node:crypto";
import { TwtxtError } from "../errors.js";
import type { ClientRequest } from "./client-request.js";

/** The result of an action. */
export interface Notice {
  text: string;
  isFailure?: boolean;
  /** Undoes the action: a form with these fields. */
  undo?: { action: string; fields: Readonly<Record<string, string>> };
}

const PARAMETER = "notice";
/** A page that is reloaded shows its notice again, so the last notices are kept. */
const MAX_NOTICES = 50;

/** The last notices of this process. A page names its notice by an unguessable ID, so that no link can make one up. */
export class Notices {
  readonly #notices = new Map<string, Notice>();

  /** The notice of the page that is requested; `null` for none. */
  of(c: ClientRequest): Notice | null {
    return this.#notices.get(c.req.query(PARAMETER) ?? "") ?? null;
  }

  /** Redirects to a page of the client that shows the notice. */
  redirect(c: ClientRequest, path: string, notice: Notice): Response {
    const id = randomBytes(9).toString("base64url");
    this.#notices.set(id, notice);
    for (const old of [...this.#notices.keys()].slice(0, -MAX_NOTICES)) this.#notices.delete(old);
    return c.redirect(`${path}${path.includes("?") ? "&" : "?"}${PARAMETER}=${id}`, 303);
  }

  /** Answers a request, or redirects to a page that shows why that failed. */
  async orRedirect(c: ClientRequest, path: string, answer: () => Promise<Response>): Promise<Response> {
    try {
      return await answer();
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      return this.redirect(c, path, { text: error.message, isFailure: true });
    }
  }

  /**
   * Runs the action of a form, and redirects to a page that shows its result, or why it failed.
   *
   * @param path - of the page, perhaps with a query
   * @param action - resolves with `null` if the page itself shows the result
   * @param failurePath - of the page that shows a failure, such as the form with what was typed
   */
  act(c: ClientRequest, path: string, action: () => Promise<Notice | null>, failurePath = path): Promise<Response> {
    return this.orRedirect(c, failurePath, async () => {
      const notice = await action();
      return notice === null ? c.redirect(path, 303) : this.redirect(c, path, notice);
    });
  }
}
