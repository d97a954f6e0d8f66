// test/client/open-page.ts: opens a page of the client in a browser.
import type { Page } from "playwright-core";
import { openTab } from "../helpers/tabs.js";
import type { ClientUnderTest } from "./client.js";

/** Opens a page in a browser that has opened the link of the client before. */
export async function openPage(client: ClientUnderTest, path: string, where = openTab()): Promise<Page> {
  const tab = await where;
  const [name = "", value = ""] = (await client.session()).split("=");
  await tab.context().addCookies([{ name, value, url: client.origin }]);
  await tab.goto(client.origin + path);
  return tab;
}
