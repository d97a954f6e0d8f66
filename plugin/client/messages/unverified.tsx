// plugin/client/messages/unverified.tsx: the messages whose senders are not verified.
import type { FC } from "hono/jsx";
import type { InboxEntry } from "../../author/messages/mailbox.js";
import { findKeyChanges, type KeyChange } from "../../author/messages/threads.js";
import { ActionButton } from "../form.js";
import { KeyQuestion } from "./key-pages.js";
import { ReceivedItem } from "./message-items.js";
import type { RoomParts } from "./message-requests.js";
import { UNVERIFIED } from "./paths.js";

const UnverifiedPage: FC<{ entries: readonly InboxEntry[]; changes: readonly KeyChange[] }> = ({
  entries,
  changes,
}) => (
  <>
    <p class="muted">Do not trust the addresses below: it is not certain who wrote these messages.</p>
    <ActionButton action={UNVERIFIED}>Verify again</ActionButton>
    <div id="new-keys" data-live>
      {changes.map((change) => (
        <KeyQuestion change={change} />
      ))}
    </div>
    <ul class="items" id="unverified" data-live>
      {entries.map((entry) => (
        <ReceivedItem entry={entry} withSender />
      ))}
    </ul>
    {entries.length === 0 && <p class="muted">There are none.</p>}
  </>
);

export function addUnverified({ routes, open, notices }: RoomParts): void {
  routes.get("/unverified", async (c) => {
    const correspondence = await open();
    const conversation = await correspondence.with(null);
    if (conversation) await correspondence.markRead(conversation);
    const entries = conversation?.received ?? [];
    return c.render(<UnverifiedPage entries={entries} changes={findKeyChanges(entries)} />, { title: "Not verified" });
  });

  notices.addForm(routes, "/unverified", UNVERIFIED, async () => {
    const correspondence = await open();
    await correspondence.verifyAgain();
    const left = (await correspondence.with(null))?.received.length ?? 0;
    return { text: left === 0 ? "All senders are verified." : `${left} still not verified.` };
  });
}
