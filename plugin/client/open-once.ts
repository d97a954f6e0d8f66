// plugin/client/open-once.ts: opens something when a page first needs it, and keeps it.

export interface Opener<T> {
  /** Opens it, once; again after a failure. */
  open(): Promise<T>;
  /** `null` until it is open. */
  opened(): T | null;
}

export function openOnce<T>(work: () => Promise<T>): Opener<T> {
  let opening: Promise<T> | null = null;
  let opened: T | null = null;
  const run = async () => {
    try {
      opened = await work();
      return opened;
    } catch (error) {
      opening = null;
      throw error;
    }
  };
  return {
    open() {
      opening ??= run();
      return opening;
    },
    opened: () => opened,
  };
}
