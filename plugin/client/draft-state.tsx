// plugin/client/draft-state.tsx: shows when a draft was saved, and answers the script that saves it while it is typed.
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
  /** Sentences for the author. */
  warning: string | null;
  /** Text that another page has saved. The script puts it before the text of its page. */
  added?: string;
  /** The path of the page that shows the draft, if it is another page. */
  path?: string;
}

/** Hidden fields that identify the draft of a form, and its page. */
export const DraftFields: FC<{ id: string; seen: string }> = ({ id, seen }) => (
  <Fields fields={{ id, seen, page: randomUUID(), edit: "0" }} />
);

/** Reads {@link DraftFields}. */
export function readSave({ page, edit, seen = "" }: FormFields): DraftSave {
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

export function draftSaved(c: ClientRequest, { saved, ...draft }: SavedDraft): Response {
  return c.json({ ...draft, text: saved === null ? "" : `Draft saved at ${TIMES.format(new Date(saved))}` });
}
