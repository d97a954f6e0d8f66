// plugin/client/messages/inbox-status.tsx: why messages may be missing from a page.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { Fault } from "../fault.js";

/** Why messages may be missing. */
export interface InboxState {
  /** A sentence about an inbox that does not answer; `null` if it does. */
  fault: string | null;
  /** How many messages are still to be opened. */
  opening: number;
}

export const InboxStatus: FC<InboxState> = ({ fault, opening }) => (
  <>
    <Fault text={fault && `${fault} New messages appear when it answers again; nothing is lost meanwhile.`} />
    {opening > 0 && (
      <p class="muted" data-busy>
        Opening {counted(opening, "message")}.
      </p>
    )}
  </>
);
