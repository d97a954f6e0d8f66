// plugin/messages/inbox/new-message-events.ts: notifies subscribers in this process of new messages.

/** Events of new messages, by user. */
export class NewMessageEvents {
  readonly #listeners = new Map<string, Set<() => void>>();

  emit(user: string): void {
    for (const listener of this.#listeners.get(user) ?? []) listener();
  }

  /** @returns a function that removes the listener */
  listen(user: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(user) ?? new Set();
    this.#listeners.set(user, listeners.add(listener));
    return () => void listeners.delete(listener);
  }
}
