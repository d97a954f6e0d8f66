// plugin/author/private-hosts.ts: the private hosts that commands may contact for a site on this machine, remembered from one command to the next.
import { join } from "node:path";
import * as v from "valibot";
import { ifTwtxtError } from "../errors.js";
import { readPrefix } from "../site/routes.js";
import { findLoopbackHost, isLoopback } from "../url.js";
import { dataFolder, readRemembered, writeRemembered } from "./files.js";
import { type AuthorChoice, type HostChoice, type Machine, NO_HOSTS } from "./machine.js";
import { loadSite } from "./site.js";
import { folderName } from "./site-store.js";

const Remembered = v.array(v.string());

type Typed = HostChoice & Partial<Pick<AuthorChoice, "settings">>;

/**
 * The private hosts that a command may contact: those on its command line, and, for a site on loopback, the site itself and
 * those of earlier commands. New ones are remembered; `none` forgets the earlier ones. A public site remembers none, because its commands
 * meet strangers.
 *
 * @throws TwtxtError `bad-file` if they cannot be stored
 */
export async function choosePrivateHosts(typed: Typed, machine: Machine): Promise<string[]> {
  const named = typed["allow-private-host"].filter((host) => host !== NO_HOSTS);
  const isForgetting = named.length < typed["allow-private-host"].length;
  const site = await findTrialSite(typed.settings, machine);
  if (site === null) return named;
  const file = join(dataFolder(machine), "sites", folderName(site.url), "private-hosts.json");
  const before = (await readRemembered(file, Remembered)) ?? [];
  const own = findLoopbackHost(site.url);
  const kept = isForgetting ? [] : before;
  const hosts = [...new Set([...kept, ...named.filter((host) => !own.includes(host))])];
  if (hosts.join() === before.join()) return [...hosts, ...own];
  await writeRemembered(file, hosts);
  machine.say(
    hosts.length === 0
      ? `Forgot the private hosts of ${site.url}: ${before.join(", ")}.`
      : `Remembered for ${site.url}: commands may contact ${hosts.join(", ")}. To forget: --allow-private-host ${NO_HOSTS}`,
  );
  return [...hosts, ...own];
}

/** @returns `null` for no built site here, and for one with a public address */
async function findTrialSite(settings: string | undefined, machine: Machine): Promise<{ url: string } | null> {
  // The command itself says that there is no site, if it needs one.
  const site = await loadSite(machine, settings).catch(ifTwtxtError(() => null));
  if (site === null) return null;
  const url = site.settings.url + readPrefix(site.settings);
  return isLoopback(new URL(url).hostname) ? { url } : null;
}
