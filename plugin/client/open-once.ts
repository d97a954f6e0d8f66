// plugin/client/open-once.ts: opens something when a page first needs it, and keeps it.

/**
 * @param work - opens it. The signal ends what was opened when it is out of date
 * @param isCurrent - checked each time it is needed; default: it stays current
 * @returns `open` opens it once, and again after a failure or if it is out of date; `opened` has it, or `null`
 */
export function openOnce<T>(
  work: (outdated: AbortSignal) => Promise<T>,
  isCurrent: (opened: T) => Promise<boolean> = async () => true,
) {
  let opening: Promise<T> | null = null;
  let opened: T | null = null;
  let outdated = new AbortController();
  const run = async () => {
    outdated = new AbortController();
    try {
      opened = await work(outdated.signal);
      return opened;
    } catch (error) {
      opening = null;
      throw error;
    }
  };
  return {
    async open(): Promise<T> {
      const former = opened;
      if (former !== null && !(await isCurrent(former)) && opened === former) {
        outdated.abort();
        opened = null;
        opening = null;
      }
      opening ??= run();
      return opening;
    },
    opened: () => opened,
  };
}
