// plugin/http/same-url.ts: when two URLs name the same thing.

/**
 * A form in which two URLs of the same page or feed are equal: http and https are the same, and host case, a default
 * port and the fragment do not count. The rest is exact.
 *
 * @returns `null` for what is no absolute http or https URL
 * @example comparableUrl("HTTP://Alice.example:80/a#b") === comparableUrl("https://alice.example/a")
 * @see PROTOCOL 2.4, "The request"
 */
export function comparableUrl(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, host, hostname, port, pathname, search } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return null;
  return `//${port === "80" || port === "443" ? hostname : host}${pathname}${search}`;
}

/** Whether two URLs name the same thing. */
export function isSameUrl(a: string, b: string): boolean {
  const comparable = comparableUrl(a);
  return comparable !== null && comparable === comparableUrl(b);
}
