import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linkTargets } from "../../../plugin/mentions/send/discover.js";

const endpoints = (header: string) => linkTargets(header, "webmention");

describe("the links of a relation", () => {
  it.each([
    ["not quoted", "</wm>; rel=webmention"],
    ["quoted", '</wm>; rel="webmention"'],
    ["in capitals", "</wm>; REL=WebMention"],
    ["without spaces", "</wm>;rel=webmention"],
    ["with much whitespace", '  </wm> ;\t rel = "webmention"  '],
    ["the last one of several", '</wm>; rel="me  webmention"'],
    ["after another parameter", "</wm>; title=hello; rel=webmention"],
    ["after a parameter without value", "</wm>; crossorigin; rel=webmention"],
    ["after a comma and a semicolon in quotes", '</wm>; title="a, <b>; rel=no"; rel=webmention'],
    ["after a quote in quotes", '</wm>; title="\\"; rel=no; \\\\"; rel=webmention'],
    ["after a quotation mark in an unquoted value", '</wm>; title=5"; rel=webmention'],
    ["before a second rel, which is ignored", "</wm>; rel=webmention; rel=other"],
    ["after empty parameters", "</wm>;; ;rel=webmention;"],
    ["after empty elements of the list", ", ,</wm>; rel=webmention,"],
    ["after a link of another relation", "<https://x.example/a,b;c>; rel=webmentions, </wm>; rel=webmention"],
    ["after a link without parameters", "</other>, </wm>; rel=webmention"],
    ["after an invalid element", 'hello; rel=webmention, "x", </wm>; rel=webmention'],
    ["after an unexpected word", "</wm> hello; rel=webmention"],
    ["with escaped characters", '</wm>; rel="web\\mention"'],
    ["in an unclosed quotation", '</wm>; rel="webmention'],
    ["with whitespace within its brackets", "< /wm >; rel=webmention"],
  ])("are found %s", (_name, header) => {
    expect(endpoints(header)).toEqual(["/wm"]);
  });

  it("are found with their commas, semicolons and quotes, in order", () => {
    expect(endpoints('</a,b;c="d">; rel=webmention, <>; rel=webmention, </e>; rel="x webmention y"')).toEqual([
      '/a,b;c="d"',
      "",
      "/e",
    ]);
  });

  it.each([
    ["an empty header", ""],
    ["another relation", "</wm>; rel=other"],
    ["part of a relation's name", '</wm>; rel="not-webmention webmention.io"'],
    ["a second rel", "</wm>; rel=other; rel=webmention"],
    ["another parameter", "</wm>; rev=webmention; title=webmention"],
    ["a quoted value", '</wm>; title="; rel=webmention"'],
    ["the target itself", "</wm; rel=webmention>"],
    ["an unclosed target", "</wm; rel=webmention"],
    ["a target without brackets", "/wm; rel=webmention"],
    ["single quotes", "</wm>; rel='webmention'"],
    ["a link of another page", '</wm>; rel=webmention; anchor="/elsewhere"'],
  ])("are not found in %s", (_name, header) => {
    expect(endpoints(header)).toEqual([]);
  });

  it("are found in any well-formed header", () => {
    const target = fc.string({ maxLength: 12 }).map((text) => text.replace(/>/g, "").trim());
    const rels = fc.array(fc.constantFrom("webmention", "WEBMENTION", "me", "next", "x-webmention"), { maxLength: 3 });
    const others = fc.array(fc.tuple(fc.constantFrom("title", "type", "rel2"), fc.string({ maxLength: 12 })));
    const links = fc.array(fc.record({ target, rels, others }), { maxLength: 6 });
    fc.assert(
      fc.property(links, (written) => {
        const header = written.map(({ target, rels, others }) =>
          [`<${target}>`, ...[...others, ["rel", rels.join(" ")] as const].map(quoted)].join("; "),
        );
        expect(endpoints(header.join(", "))).toEqual(
          written.filter(({ rels }) => rels.some((rel) => /^webmention$/i.test(rel))).map(({ target }) => target),
        );
      }),
    );
  });

  it("are searched in any text without an error", () => {
    const noise = fc.array(fc.constantFrom("<", ">", ",", ";", '"', "\\", "=", " ", "rel", "webmention", "\t", "é"));
    fc.assert(
      fc.property(noise, (parts) => {
        const header = parts.join("");
        expect(endpoints(header).every((target) => header.includes(target))).toBe(true);
      }),
    );
  });

  it.each([
    "<",
    ">",
    ",",
    ";",
    '"',
    "\\",
    "=",
    " ",
    "<>",
    "<,",
    "<>;",
    '<>;a="',
    '<>;a="\\',
    '"\\a',
    "a,",
    "; ",
    "<>;=",
    ",<a> ",
  ])("are searched in 128 KiB of %j in linear time", (unit) => {
    const hostile = unit.repeat(Math.ceil((1 << 17) / unit.length));
    expect(endpoints(hostile)).toEqual([]);
    expect(endpoints(`</wm>; rel=webmention, ${hostile}`)).toEqual(["/wm"]);
  });
});

function quoted([name, value]: readonly [string, string]): string {
  return `${name}="${value.replace(/["\\]/g, "\\$&")}"`;
}
