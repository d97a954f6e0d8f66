// plugin/client/draft-state.tsx: when a draft was saved, on its page and for the script that saves it while it is typed.
import { randomUUID } from "node:crypto";
import type { FC } from "hono/jsx";
import { DATES } from "../author/amounts.js";
import type { DraftSave } from "../author/draft-version.js";
import type { ClientRequest, FormFields } from "./client-request.js";
import { Fields } from "./form.js";

/** Such as "20:45". */
const TIMES = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });

interface SavedDraft {
  id: string;
  /** Its version, for the next save. */
  seen: string;
  /** As an ISO date; `null` for one that was deleted. */
  saved: string | null;
  /** What the author must know, in sentences. */
  warning?: string | null;
  /** What another page has saved, which the script puts before the text. */
  added?: string;
  /** Of a page that shows the draft, if that is another one. */
  path?: string;
}

/** Which draft a form saves, and from which page. */
export const DraftFields: FC<{ id: string; seen: string }> = ({ id, seen }) => (
  <Fields fields={{ id, seen, page: randomUUID(), edit: "0" }} />
);

/** Reads {@link DraftFields}. */
export function saveIn({ page, edit, seen = "" }: FormFields): DraftSave {
  return { page: page || randomUUID(), edit: Number(edit) || 0, seen };
}

/** @param saved - as an ISO date; `null` before the first save */
export const DraftState: FC<{ saved: string | null }> = ({ saved }) => (
  <p id="draft-state" class="muted" role="status">
    {saved && `Draft saved: ${DATES.format(new Date(saved))}`}
  </p>
);

/** Whether a script saves the draft, which gets {@link draftSaved}. */
export function isForScript(c: ClientRequest): boolean {
  return c.req.header("accept") === "application/json";
}

export function draftSaved(c: ClientRequest, { saved, warning = null, ...draft }: SavedDraft): Response {
  const text = saved === null ? "" : `Draft saved at ${TIMES.format(new Date(saved))}`;
  return c.json({ ...draft, text, warning });
}
