// plugin/cli/message/watched-fetch.ts: fetch for whoever asks one host for long: outages are told once.

/**
 * @param signal - ends every request
 * @param say - told when a host that has answered does so no more, and when it answers again
 */
export function watchedFetch(signal: AbortSignal, say: (line: string) => void): typeof globalThis.fetch {
  let isUp: boolean | null = null;
  const note = (isAnswering: boolean, why: string) => {
    if (isUp === true && !isAnswering) say(`The inbox ${why}. It is tried again until it is back.`);
    if (isUp === false && isAnswering) say("The inbox answers again.");
    if (isUp !== null || isAnswering) isUp = isAnswering;
  };
  return async (input, init) => {
    const signals = [signal, ...(init?.signal ? [init.signal] : [])];
    try {
      const answer = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
      note(answer.status < 500 && answer.status !== 429, `answers ${answer.status}`);
      return answer;
    } catch (error) {
      if (!signal.aborted) note(false, "does not answer");
      throw error;
    }
  };
}
