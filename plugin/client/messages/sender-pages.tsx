// plugin/client/messages/sender-pages.tsx: the keys of correspondents, messages whose senders are not verified, deleting messages and blocking senders.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { acceptKey, blockSender, type KeyComparison } from "../../author/messages/mailbox.js";
import {
  findKeyChanges,
  type InboxEntry,
  isOpened,
  type KeyChange,
  readText,
  shownAddress,
  shownSender,
} from "../../author/messages/message-facts.js";
import { parseAddress } from "../../keys/address.js";
import type { ClientRequest, FormFields } from "../client-request.js";
import { ActionButton, Fact, Question } from "../page-parts.js";
import { MessageText } from "../strangers-text.js";
import { ReceivedItem } from "./message-items.js";
import {
  conversationPath,
  keyPath,
  MESSAGES,
  parseAddressText,
  type RoomParts,
  readAddress,
  UNVERIFIED,
} from "./message-requests.js";

const Key: FC<{ of: string; value: string }> = ({ of, value }) => (
  <Fact name={of}>
    <code>{value}</code>
  </Fact>
);

export const KeyQuestion: FC<{ change: KeyChange }> = ({ change: { address, pinned, now } }) => (
  <section class="key-question" aria-label="A new key">
    <p>
      <strong>Is the new key theirs?</strong> {address} has a new key, or someone else has replaced it. Messages with
      the new key are under <a href={UNVERIFIED}>Not verified</a> until you accept it.
    </p>
    <dl class="keys">
      <Key of="The key that you know" value={pinned} />
      <Key of={`The key that ${address} publishes now`} value={now} />
    </dl>
    <p>
      <a href={keyPath(address)}>Compare the keys</a>
    </p>
  </section>
);

const KeyPage: FC<{ comparison: KeyComparison }> = ({ comparison }) => {
  const { address, pinned, found } = comparison;
  const isSame = pinned?.key === found.key;
  return (
    <>
      <dl class="keys">
        {pinned && <Key of={`The key that you know, since ${pinned.since.slice(0, 10)}`} value={pinned.key} />}
        {!isSame && <Key of={`The key that ${address} publishes now`} value={found.key} />}
      </dl>
      {isSame ? (
        <p>
          {address} publishes the same key. To be certain that it is theirs, compare it over another channel, such as a
          call.
        </p>
      ) : (
        <>
          <p>
            Ask {address} over another channel, such as a call, whether the published key is theirs. Someone who
            controls their site could have replaced it, and would read what you write from then on.
          </p>
          <ActionButton fields={{ key: found.key }} label="I have asked: accept the published key" />
        </>
      )}
    </>
  );
};

export function addKeys({ routes, open, notices }: RoomParts): void {
  routes.get("/key/:address", async (c) => {
    const address = readAddress(c);
    const { mailbox } = await open();
    const page = <KeyPage comparison={await mailbox.compareKey(address)} />;
    return c.render(page, { title: `The key of ${shownAddress(address)}` });
  });

  const findPage = (_: FormFields, c: ClientRequest) => keyPath(readAddress(c));
  notices.addForm(routes, "/key/:address", findPage, async ({ key = "" }, c) => {
    const correspondence = await open();
    const outcome = await acceptKey(readAddress(c), key, correspondence.mailbox);
    await correspondence.verifyAgain();
    return outcome;
  });
}

const UnverifiedPage: FC<{ entries: readonly InboxEntry[] }> = ({ entries }) => (
  <>
    <p class="muted">Do not trust the addresses below: it is not certain who wrote these messages.</p>
    <ActionButton label="Verify again" />
    <div id="new-keys" data-live>
      {findKeyChanges(entries).map((change) => (
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
    return c.render(<UnverifiedPage entries={conversation?.received ?? []} />, { title: "Not verified" });
  });

  notices.addForm(routes, "/unverified", UNVERIFIED, async () => {
    const correspondence = await open();
    await correspondence.verifyAgain();
    const left = (await correspondence.with(null))?.received.length ?? 0;
    return { text: left === 0 ? "All senders are verified." : `${left} still not verified.` };
  });
}

const DeletePage: FC<{ entry: InboxEntry; address: string | null }> = ({ entry, address }) => (
  <Question fields={{ id: entry.id, address: address ?? "" }} yes="Delete it" back={toPath(address)}>
    <p>This deletes the message by {shownSender(entry)} from your inbox for good:</p>
    {isOpened(entry) && <MessageText text={readText(entry)} />}
  </Question>
);

const BlockPage: FC<{ address: string; count: number }> = ({ address, count }) => (
  <Question fields={{ address }} yes="Block this sender" back={toPath(address)}>
    <p>
      This deletes {counted(count, "message")} from {shownAddress(address)} for good. New messages from this sender are
      deleted when they are opened. Your host cannot refuse them, because it cannot know who sealed a message.
    </p>
  </Question>
);

function toPath(address: string | null): string {
  return address === null ? UNVERIFIED : conversationPath(address);
}

export function addDeletion({ routes, open, notices }: RoomParts): void {
  routes.get("/delete", async (c) => {
    const { entry, address } = await (await open()).entry(c.req.query("id") ?? "");
    return c.render(<DeletePage entry={entry} address={address} />, { title: "Delete this message?" });
  });

  const findPage = ({ address = "" }: FormFields) => toPath(parseAddress(address));
  notices.addForm(routes, "/delete", findPage, async ({ id = "" }) => {
    await (await open()).delete(id);
    return { text: "The message was deleted from your inbox." };
  });
}

export function addBlocking({ routes, open, notices }: RoomParts): void {
  routes.get("/block", async (c) => {
    const address = parseAddressText(c.req.query("address") ?? "");
    const count = (await (await open()).with(address))?.received.length ?? 0;
    return c.render(<BlockPage address={address} count={count} />, { title: "Block this sender?" });
  });

  notices.addForm(routes, "/block", MESSAGES, async ({ address = "" }) => {
    const correspondence = await open();
    const outcome = await blockSender(parseAddressText(address), correspondence.mailbox);
    await correspondence.removeBlocked();
    return outcome;
  });
}
