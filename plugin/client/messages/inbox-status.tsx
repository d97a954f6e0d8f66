// plugin/client/messages/inbox-status.tsx: why messages may be missing from a page.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { Sentence } from "../sentence.js";

/** Why messages may be missing. */
export interface InboxState {
  /** A sentence about an inbox that does not answer; `null` if it does. */
  fault: string | null;
  /** How many messages are still to be opened. */
  opening: number;
}

export const InboxStatus: FC<InboxState> = ({ fault, opening }) => (
  <>
    {fault !== null && (
      <p class="notice failure">
        <Sentence text={fault} /> New messages appear when it answers again; nothing is lost meanwhile.
      </p>
    )}
    {opening > 0 && (
      <p class="muted" data-busy="">
        Opening {counted(opening, "message")}.
      </p>
    )}
  </>
);
