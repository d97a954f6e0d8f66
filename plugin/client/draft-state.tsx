// plugin/client/draft-state.tsx: when a draft was saved, on its page and for the script that saves it while it is typed.
import type { Context } from "hono";
import type { FC } from "hono/jsx";
import type { ClientEnv } from "./client-env.js";
import { DATES, TIMES } from "./dates.js";

interface SavedDraft {
  id: string;
  /** Its version, for the next save. */
  seen: string;
  /** As an ISO date; `null` for one that was deleted. */
  saved: string | null;
  /** What the author must know, in sentences. */
  warning?: string | null;
  /** Of a page that shows the draft, if that is another one. */
  path?: string;
}

/** @param saved - as an ISO date; `null` before the first save */
export const DraftState: FC<{ saved: string | null }> = ({ saved }) => (
  <p id="draft-state" class="muted" role="status">
    {saved && `Draft saved: ${DATES.format(new Date(saved))}`}
  </p>
);

/** Whether a script saves the draft, which gets {@link draftSaved}. */
export function isForScript(c: Context<ClientEnv>): boolean {
  return c.req.header("accept") === "application/json";
}

export function draftSaved(c: Context<ClientEnv>, { saved, warning = null, ...draft }: SavedDraft): Response {
  const text = saved === null ? "" : `Draft saved at ${TIMES.format(new Date(saved))}`;
  return c.json({ ...draft, text, warning });
}
