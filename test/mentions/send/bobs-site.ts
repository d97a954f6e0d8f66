// test/mentions/send/bobs-site.ts: loopback sites for endpoint discovery.
import type { OutgoingHttpHeaders } from "node:http";
import { createGuard } from "../../../plugin/http/guard.js";
import { createDiscover, type Discover } from "../../../plugin/mentions/send/discover.js";
import { PATIENT_MS } from "../../helpers/longest.js";
import { type LoopbackServer, loopbackRoute, loopbackServer } from "../../helpers/loopback.js";

export const NOW = Date.parse("2026-11-20T09:00:00Z");

export interface Answer {
  status?: number;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
}

export interface Site extends LoopbackServer {
  /** Looks up endpoints like one run of the sender: calls share results. */
  discover: Discover;
  /** The paths of all POST requests; each gets 202. */
  posted: string[];
}

/** A loopback site with responses by path, otherwise 404. `neighbours` are other sites that it links to. */
export async function siteWith(
  answers: (url: string) => Record<string, Answer>,
  { neighbours = [] }: { neighbours?: LoopbackServer[] } = {},
): Promise<Site> {
  const posted: string[] = [];
  const server = await loopbackServer((request, response) => {
    if (request.method === "POST") {
      posted.push(request.url ?? "");
      return response.writeHead(202).end();
    }
    const { status = 200, headers = {}, body = "" } = answers(server.url)[request.url ?? ""] ?? { status: 404 };
    response.writeHead(status, headers).end(body);
  });
  return { ...server, posted, discover: discovererOf([server, ...neighbours]) };
}

export function discovererOf(servers: LoopbackServer[], totalMs = PATIENT_MS): Discover {
  const ask = createGuard({
    userAgent: "test/1 (+https://alice.example/twtxt.txt; @alice)",
    allowPrivateHosts: servers.map(({ host }) => host),
    route: loopbackRoute,
    totalMs,
    firstByteMs: totalMs,
  });
  return createDiscover({ ask, now: () => NOW });
}

export function feed(body: string | Buffer, headers: OutgoingHttpHeaders = {}): Answer {
  return { body, headers: { "content-type": "text/plain; charset=utf-8", ...headers } };
}

export function page(body: string, headers: OutgoingHttpHeaders = {}): Answer {
  return { body, headers: { "content-type": "text/html; charset=utf-8", ...headers } };
}
