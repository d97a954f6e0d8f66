// test/messages/send/outbox-child.mjs: a process that sends one message to several inboxes.
import { createGuard } from "../../../.test-build/http/guard.js";
import { Outbox } from "../../../.test-build/messages/send/outbox.js";
import { SqliteStore } from "../../../.test-build/store/sqlite.js";

const [folder = "", id = "", time = "", ...endpoints] = process.argv.slice(2);
const allowPrivateHosts = endpoints.map((endpoint) => new URL(endpoint).host);
const outbox = new Outbox({
  store: new SqliteStore(folder),
  ask: createGuard({ userAgent: "test/1", allowPrivateHosts }),
  now: () => Number(time),
  random: () => 0.5,
});
const recipients = endpoints.map((endpoint, number) => ({ address: `${number}@bob.example`, endpoint }));
await outbox.send({ id, sealed: `sealed ${id}`, recipients, keepCopy: true });
