// plugin/cli/client.ts: `eleventy-twtxt client` starts the local web client and opens it in the browser.
import { readFile } from "node:fs/promises";
import { ifBuilt, siteAt } from "../author/site.js";
import { TwtxtError } from "../errors.js";
import { none } from "./arguments.js";
import { command } from "./command.js";
import {
  AUTHOR_OPTIONS,
  flag,
  HOSTS_OPTION,
  type Kind,
  number,
  option,
  URL_OPTION,
  type ValuesOf,
  withDefault,
} from "./options.js";
import type { Terminal } from "./terminal.js";

const NO_HOST: Kind<never> = {
  name: "HOST",
  expected: "no host",
  parse() {
    throw new TwtxtError(
      "bad-usage",
      "The client listens on 127.0.0.1 only, because it acts with your key. To use it from another machine, forward its port with ssh -L.",
    );
  },
};

const OPTIONS = {
  port: withDefault(number(0, 65_535), 0, "the port to listen on; 0 for a free one"),
  "no-open": flag("prints the link and opens no browser"),
  host: option(NO_HOST, "refused: the client listens on 127.0.0.1 only"),
  ...AUTHOR_OPTIONS,
  ...URL_OPTION,
  ...HOSTS_OPTION,
};

type Values = ValuesOf<typeof OPTIONS>;

export const client = command({
  name: "client",
  summary: "opens your site's mentions and more in the browser",
  usage: "[options]",
  about: `Starts a web server for you alone, on 127.0.0.1, and opens it in your browser. Your key stays where it is: the server signs, as the commands do.

The link works once. When another browser asks for the page, a new link appears here. Ctrl-C ends the client.`,
  options: OPTIONS,
  words: none,
  example: `$ eleventy-twtxt client
http://127.0.0.1:41725/open?token=YMhWXoRCVzRd3IBZgNYoGD2lgAUUfMkF4m0HrtD9_5o
Opened in your browser. Ctrl-C ends the client.`,
  async run(values, _, terminal) {
    const { handOver, openBrowser } = await import("../client/browser.js");
    const running = await start(values, terminal);
    // Before the link is printed: a program that reads it may end the client at once.
    const ended = terminal.ended();
    const handedOver = values["no-open"] ? null : await handOver(running.link);
    terminal.print(running.link);
    const isOpen = handedOver !== null && (await openBrowser(handedOver.target, terminal));
    const what = isOpen ? "Opened in your browser." : "Open this link in your browser.";
    terminal.say(`${what} Ctrl-C ends the client.`);
    await ended;
    terminal.say("Shutting down: finishing open requests.");
    await running.close();
    await handedOver?.end();
    return 0;
  },
});

async function start({ port, ...choice }: Values, terminal: Terminal) {
  const { startClient } = await import("../client/server.js");
  const { ROOMS } = await import("../client/rooms.js");
  const site = await ifBuilt(choice.settings, siteAt(terminal, choice.settings));
  try {
    return await startClient({
      ...{ port, choice, machine: terminal, rooms: ROOMS },
      site: site && new URL(site.settings.url).host,
      readAsset: (file) => readFile(new URL(`../browser/${file}`, import.meta.url), "utf8"),
      announce: (link) => terminal.say(`A browser without a session asked for the client. If it was yours: ${link}`),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !code.startsWith("E")) throw error;
    const what = code === "EADDRINUSE" ? "is in use, perhaps by another client" : `cannot be used: ${message}`;
    throw new TwtxtError("bad-usage", `Port ${port} of 127.0.0.1 ${what}. Leave out --port to get a free one.`, {
      cause: error,
    });
  }
}
