// plugin/cli/client.ts: `eleventy-twtxt client` starts the local web client and opens it in the browser.
import { readFile } from "node:fs/promises";
import { loadSite } from "../author/site.js";
import { ifTwtxtError, TwtxtError } from "../errors.js";
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
      "The client listens on 127.0.0.1 only, because it acts with your key. To use it from another machine, type there: ssh -L 4000:127.0.0.1:4000 HOST, and on HOST: eleventy-twtxt client --no-open --port 4000",
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
  summary: "opens your timeline, mentions, messages and files in the browser",
  usage: "[options]",
  about: `Starts a web server for you alone, on 127.0.0.1, and opens it in your browser. Your key stays where it is: the server signs, as the commands do.

The link works once. To open the client in another browser, open its address there, without the token: a new link appears here. Ctrl-C ends the client; drafts are kept.

On a machine that you use through ssh, it prints the command that forwards the port to your own machine.`,
  options: OPTIONS,
  example: `$ eleventy-twtxt client
http://127.0.0.1:41725/open?token=YMhWXoRCVzRd3IBZgNYoGD2lgAUUfMkF4m0HrtD9_5o
Opened in your browser. The link works once; for another one, open http://127.0.0.1:41725/
Ctrl-C ends the client.`,
  async run(values, _, terminal) {
    const { handOver, openBrowser } = await import("../client/open-browser.js");
    const running = await start(values, terminal);
    // Before the link is printed: a program that reads it may end the client at once.
    const ended = terminal.ended();
    const screen = findScreen(terminal.environment);
    const handedOver = values["no-open"] || screen === "ssh" ? null : await handOver(running.link);
    terminal.print(running.link);
    // Some of these programs exit only when the browser does.
    const interrupted = ended.then(() => true);
    const isOpen = handedOver !== null && (await Promise.race([openBrowser(handedOver.target, terminal), interrupted]));
    const what = isOpen ? "Opened in your browser." : formatAdvice(screen, running.port, terminal.environment);
    terminal.say(`${what} The link works once; for another one, open ${new URL("/", running.link)}`);
    terminal.say("Ctrl-C ends the client.");
    await ended;
    terminal.say("Shutting down: finishing open requests. Ctrl-C again ends at once.");
    await running.close();
    await handedOver?.end();
    return 0;
  },
});

type Screen = "here" | "ssh" | "wsl";

function findScreen({ SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME }: Terminal["environment"]): Screen {
  // With X forwarding, a browser of this machine can be shown.
  if (SSH_CONNECTION && !DISPLAY && !WAYLAND_DISPLAY) return "ssh";
  return WSL_DISTRO_NAME ? "wsl" : "here";
}

function formatAdvice(screen: Screen, port: number, { SSH_CONNECTION, USER }: Terminal["environment"]): string {
  if (screen === "wsl") return "Open this link in your browser on Windows.";
  if (screen === "here") return "Open this link in a browser on this machine.";
  // SSH_CONNECTION: the client's address and port, then the server's.
  const host = SSH_CONNECTION?.split(" ")[2] ?? "HOST";
  const login = USER ? `${USER}@${host}` : host;
  return `Type on your own machine: ssh -L ${port}:127.0.0.1:${port} ${login}\nThen open this link there.`;
}

async function start({ port, ...choice }: Values, terminal: Terminal) {
  const { startClient } = await import("../client/app.js");
  const { ROOMS } = await import("../client/rooms.js");
  const loading = loadSite(terminal, choice.settings);
  const sayAdvice = ifTwtxtError(({ message }) => terminal.say(message), "no-settings");
  // The client also starts without a site. Its pages say what they need, and find a site that is built later.
  const site = choice.settings === undefined ? await loading.catch(sayAdvice) : await loading;
  try {
    return await startClient({
      ...{ port, choice, machine: terminal, rooms: ROOMS },
      site: site ? new URL(site.settings.url).host : null,
      readAsset: (file) => readFile(new URL(`../browser/${file}`, import.meta.url), "utf8"),
      announce: (link) => terminal.say(`A browser without a session asked for the client. If it was yours: ${link}`),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !code.startsWith("E")) throw error;
    const what = code === "EADDRINUSE" ? "is in use, perhaps by another client" : `cannot be used: ${message}`;
    const todo = "Choose another one, or leave out --port to get a free one.";
    throw new TwtxtError("bad-usage", `Port ${port} of 127.0.0.1 ${what}. ${todo}`, { cause: error });
  }
}
