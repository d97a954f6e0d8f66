// plugin/mentions/send/link-header.ts: parser of the `Link` header.

/**
 * The targets of the links that have a relation, in order.
 *
 * A link with an `anchor` belongs to another page and is left out. A malformed link is skipped up to the next comma.
 *
 * @param header - the values of all `Link` headers, joined by commas
 * @param rel - in lower case
 * @returns the targets as written, possibly relative; in time linear in the header's length
 * @example linkTargets('</next>; rel=next, </wm>; rel="x webmention"', "webmention") // ["/wm"]
 * @see RFC 8288, 3 and B.3
 */
export function linkTargets(header: string, rel: string): string[] {
  const targets: string[] = [];
  for (const { target, parameters } of readLinks(header)) {
    const rels = parameters.get("rel")?.toLowerCase().split(/\s+/) ?? [];
    if (rels.includes(rel) && !parameters.has("anchor")) targets.push(target);
  }
  return targets;
}

interface Link {
  target: string;
  /** By lowercase name; the first of each counts. */
  parameters: Map<string, string>;
}

function* readLinks(header: string): Iterable<Link> {
  const text = new Scanner(header);
  for (text.take(/[\s,]*/y); !text.isAtEnd(); text.take(/[\s,]*/y)) {
    if (text.take(/</y) === "") {
      text.take(/[^,]*/y);
      continue;
    }
    const target = text.take(/[^>]*/y).trim();
    if (text.take(/>/y) === "") return;
    yield { target, parameters: readParameters(text) };
  }
}

/** Reads up to a comma or the end. */
function readParameters(text: Scanner): Map<string, string> {
  const parameters = new Map<string, string>();
  // Text without a preceding semicolon is ignored.
  for (text.take(/[^;,]*/y); text.take(/;/y) !== ""; text.take(/[^;,]*/y)) {
    const name = text
      .take(/[^=;,]*/y)
      .trim()
      .toLowerCase();
    const value = text.take(/=\s*/y) === "" ? "" : readValue(text);
    if (!parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}

function readValue(text: Scanner): string {
  const quoted = text.take(/"(?:[^"\\]+|\\.)*"?/sy);
  if (quoted === "") return text.take(/[^;,]*/y).trim();
  return quoted.replace(/^"|"$/g, "").replace(/\\(.)/gs, "$1");
}

class Scanner {
  #at = 0;

  constructor(readonly text: string) {}

  isAtEnd(): boolean {
    return this.#at >= this.text.length;
  }

  /** @param pattern - sticky */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ""] = pattern.exec(this.text) ?? [];
    this.#at += taken.length;
    return taken;
  }
}
