// plugin/author/notes/complete-nick.ts: the feeds that complete `@nick` while a note is typed. A script of the client uses it, too.

export interface KnownNick {
  nick: string;
  url: string;
  /** What completes `@nick`: `@bob` for a followed feed, `@<bob https://bob.example/twtxt.txt>` for another one. */
  written: string;
}

/** A nick that is being typed: an "@" that is no part of an address or a URL, and what follows it. */
const TYPED = /(?:^|[^\p{L}\p{N}_/@.=&#%+\\])@([^\s@#!:<>()[\]'"`]{0,64})$/u;

/**
 * What is typed of a nick at the end of a text, without "@".
 *
 * @returns `null` if no nick is being typed; empty after a single "@"
 * @example typedNick("Hello @bo") // "bo"
 */
export function typedNick(text: string): string | null {
  return TYPED.exec(text)?.[1] ?? null;
}

/**
 * The feeds whose nick starts with what is typed, whatever its case, then those with it elsewhere in their nick or host.
 *
 * @param typed - with or without `@`
 */
export function completeNick(typed: string, known: readonly KnownNick[]): KnownNick[] {
  const wanted = typed.replace(/^@/, "").toLowerCase();
  const starts = known.filter(({ nick }) => nick.toLowerCase().startsWith(wanted));
  const others = known.filter(
    (one) => !starts.includes(one) && `${one.nick} ${new URL(one.url).host}`.toLowerCase().includes(wanted),
  );
  return [...starts, ...others];
}
