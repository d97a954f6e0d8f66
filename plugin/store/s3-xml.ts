// plugin/store/s3-xml.ts: reading S3's flat XML.

const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The contents of all elements of this name that contain only text. */
export function textsIn(xml: string, element: string): string[] {
  const pattern = new RegExp(`<${element}>([^<]*)</${element}>`, "g");
  return [...xml.matchAll(pattern)].map(([, text = ""]) => unescaped(text));
}

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (all, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null;
    if (code === null) return NAMED[name] ?? all;
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
