import { readFileSync } from "node:fs";
import { parseDictionary } from "structured-headers";
import { describe, expect, it } from "vitest";
import { readBody } from "../../plugin/http/respond.js";
import { signatureBase } from "../../plugin/http/sign-request.js";
import { readSignature, verifyRequest } from "../../plugin/http/signature.js";
import { memoryStore } from "../../plugin/store/memory.js";
import vectors from "../vectors/http-signatures.json" with { type: "json" };
import { ALICE } from "./asking.js";
import { operation, paths } from "./document.js";

const page = readFileSync(new URL("../../docs/http-api.md", import.meta.url), "utf8");

/** The code block after a marker. */
function block(mark: string): string {
  return new RegExp(`<!-- ${mark} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\\n\`\`\``).exec(page)?.[1] ?? "";
}

/** The request of the document. Its body ends with a line break. */
function signedRequest() {
  const [head = "", body] = block("signed request").split("\n\n");
  const [first = "", ...lines] = head.split("\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]));
  const authority = headers.get("host") ?? "";
  headers.delete("host");
  return { method, url: `https://${authority}${path}`, authority, headers, body: `${body}\n` };
}

describe("the signed request of docs/http-api.md", () => {
  const request = signedRequest();
  const { components, params, signature } = readSignature(request.headers);

  it("has the documented signature base, byte for byte", () => {
    expect(signatureBase(request, components, params)).toBe(block("signature base"));
  });

  it("is signed over that base by the documented key", () => {
    expect(Buffer.from(ALICE.sign(Buffer.from(block("signature base"))))).toEqual(Buffer.from(signature));
  });

  it("is the request that another program signed with OpenSSL", () => {
    const { method, url, body, headers } = vectors.whole_request;
    expect({ ...request, headers: Object.fromEntries(request.headers) }).toMatchObject({ method, url, body, headers });
    expect(parseDictionary(headers["content-digest"]).has("sha-256")).toBe(true);
  });

  it("is accepted as Alice's at that time", async () => {
    const { method, url, headers, body } = request;
    const sent = new Request(url, { method, headers, body });
    const terms = {
      authority: "alice.example",
      allowed: new Set([ALICE.publicKey]),
      store: memoryStore(),
      now: () => vectors.whole_request.created * 1000,
    };
    const verified = await verifyRequest(sent, () => readBody(sent, 100), terms);
    expect({ owner: verified.owner, body: Buffer.from(verified.body).toString() }).toEqual({
      owner: ALICE.publicKey,
      body,
    });
  });
});

describe("docs/http-api.md", () => {
  const commands = page
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.startsWith("curl "));

  it.each(commands)("requests a described operation: %s", (command) => {
    const { pathname } = new URL(/https:[^\s']+/.exec(command)?.[0] ?? "");
    const method = command.includes("--data") ? "POST" : "GET";
    const pattern = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
    const found = Object.keys(paths).filter((path) => pattern(path).test(pathname));
    expect(found.filter((path) => operation(method, path))).not.toEqual([]);
  });

  it("has a curl command for every public operation", () => {
    expect(commands).toHaveLength(7);
  });

  it("names described paths", () => {
    const named = [...page.matchAll(/`(GET|POST|PUT|DELETE) (\/[\w.:/-]+)/g)];
    const unknown = named.filter(([, method = "", path = ""]) => {
      const asTemplate = new RegExp(`^${path.replace(/:\w+/g, "\\{\\w+\\}")}$`);
      const asPath = (one: string) => new RegExp(`^${one.replace(/\{\w+\}/g, "[^/]+")}$`).test(path);
      return !Object.keys(paths).some((one) => (asTemplate.test(one) || asPath(one)) && operation(method, one));
    });
    expect(unknown.map(([text]) => text)).toEqual([]);
    expect(named.length).toBeGreaterThan(8);
  });
});
