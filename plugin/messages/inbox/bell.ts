// plugin/messages/inbox/bell.ts: tells the subscribers in this process that something was stored.

/** Rings for one user's subscribers. */
export interface Bell {
  ring(user: string): void;
  /** @returns what ends the listening */
  listen(user: string, hear: () => void): () => void;
}

export function bell(): Bell {
  const listeners = new Map<string, Set<() => void>>();

  return {
    ring(user) {
      for (const hear of listeners.get(user) ?? []) hear();
    },

    listen(user, hear) {
      const others = listeners.get(user) ?? new Set();
      listeners.set(user, others.add(hear));
      return () => void others.delete(hear);
    },
  };
}
