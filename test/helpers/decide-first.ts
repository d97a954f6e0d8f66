import type { Store } from "../../plugin/store/store.js";

/** Stores a decision about the first mention, of 2026-11-20T09:00:01Z, as another process does. */
export async function decideFirst(store: Store, state: "shown" | "rejected"): Promise<void> {
  const [event = ""] = await store.keys("mentions/events/");
  const decision = { kind: "moderated", at: "2026-11-20T09:00:01.000Z", id: event.split("-")[1], state };
  await store.put(`mentions/events/20261120090001000-${decision.id}-0`, Buffer.from(JSON.stringify(decision)));
}
