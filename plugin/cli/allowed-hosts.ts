// plugin/cli/allowed-hosts.ts: the option `--allow-private-host`, the same for all commands that have it.
import { misuse } from "./command.js";

/** What to do where the guard has refused an address. */
export const FOR_PRIVATE_HOSTS =
  "Only public servers of the web are asked. For one in your own network, add --allow-private-host HOST:PORT";

const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?):(\d{1,5})$/;

/**
 * Checks what was given.
 *
 * @returns each as `host:port`, as the guard wants it
 * @throws TwtxtError `bad-usage`
 * @see PROTOCOL 6
 */
export function allowedHosts(values: readonly string[] | undefined, command: string): string[] {
  return (values ?? []).map((value) => {
    const [, host, port] = HOST_AND_PORT.exec(value.toLowerCase()) ?? [];
    if (host !== undefined && Number(port) >= 1 && Number(port) <= 65_535) return `${host}:${Number(port)}`;
    throw misuse(
      `${command}: --allow-private-host expects a host and a port, such as 127.0.0.1:8080, got "${value}".`,
      command,
    );
  });
}
