// plugin/eleventy/output/endpoint-page.ts: the page in the site's layout in which the endpoint answers people.
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The path at which the build writes the page, to take it out of the site at its end. */
export const ENDPOINT_PAGE = "/twtxt-endpoint-answer/";

/** Takes the page out of the built site. @returns `undefined` for a site without a layout for it */
export async function takeEndpointPage(output: string): Promise<string | undefined> {
  const file = join(output, ENDPOINT_PAGE, "index.html");
  const html = await readFile(file, "utf8").catch(() => undefined);
  if (html !== undefined) await rm(dirname(file), { recursive: true });
  return html;
}
