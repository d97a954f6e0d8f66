// plugin/client/app.tsx: the client: its HTTP server, the checks of each request, assets, rooms and errors.
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { etag } from "hono/etag";
import { html, raw } from "hono/html";
import type { Child } from "hono/jsx";
import { jsxRenderer } from "hono/jsx-renderer";
import type { Machine, OwnSiteChoice } from "../author/machine.js";
import { loadSite } from "../author/site.js";
import { TwtxtError, type TwtxtErrorCode, toStatus } from "../errors.js";
import { prepareClose } from "../host/close-server.js";
import type { ClientEnv, ClientRequest } from "./client-request.js";
import { BarePage, Page, type Place } from "./layout.js";
import { type ClientContext, type CreateRoom, Notices, type Room } from "./notices.js";
import { Fault, faultText, Sentence } from "./page-parts.js";
import { CLIENT_HOST, OPEN_PATH, Session } from "./session.js";

const FAILED = "This did not work";
/** The status of errors about something that is not set up yet. Their page is not that of a failure. */
const SETUP_STATUS = 409;
/** Of errors that commands have, too, which have no HTTP status there. */
const STATUSES: Partial<Record<TwtxtErrorCode, number>> = {
  ...{ "no-settings": SETUP_STATUS, "no-identity": SETUP_STATUS },
  ...{ "bad-usage": 400, "bad-address": 400 },
};
const ASSETS = { "client.css": "text/css", "client.js": "text/javascript" } as const;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#567"/><path d="M4 6h8M4 10h5" stroke="#fff" stroke-width="2"/></svg>`;

interface AppParts {
  session: Session;
  notices: Notices;
  rooms: readonly Room[];
  site: Place["site"];
  machine: Pick<Machine, "say">;
  readAsset(file: string): Promise<string>;
}

function clientApp({ session, notices, rooms, site, machine, readAsset }: AppParts): Hono<ClientEnv> {
  const findRoom = (path: string) =>
    rooms.find((room) => path === room.path || path.startsWith(`${room.path}/`)) ?? null;
  const [home] = rooms;
  const app = new Hono<ClientEnv>();

  const findPlace = (c: ClientRequest): Place => ({ site, rooms, room: findRoom(c.req.path) });
  app.use(session.withHeaders, session.checkConnection);
  app.get(OPEN_PATH, (c) => {
    // A HEAD request must not use up the token.
    if (c.req.method === "GET") session.open(c);
    // A page, because a browser would follow a redirect of a link from elsewhere without the new cookie.
    const path = home?.path ?? "/";
    return bare(c, "Opening", <a href={path}>Continue</a>, path);
  });
  for (const [file, type] of Object.entries(ASSETS)) {
    app.get(`/${file}`, async (c) => c.body(await readAsset(file), 200, { "content-type": `${type}; charset=utf-8` }));
  }
  app.get("/client.svg", (c) => c.body(ICON, 200, { "content-type": "image/svg+xml" }));

  app.use(
    jsxRenderer(({ children, title }, c) => (
      <Page title={title} place={findPlace(c)} notice={notices.of(c)}>
        {children}
      </Page>
    )),
  );
  app.use(
    session.check((path) => findRoom(path)?.maxBodyBytes),
    etag(),
  );
  app.get("/", (c) => c.redirect(home?.path ?? "/"));
  notices.addUndo(app);
  for (const { path, routes } of rooms) app.route(path, routes);

  app.notFound(() => {
    throw new TwtxtError("not-found", "There is no such page.");
  });
  app.onError((error, c) => errorPage(error, c, { machine, room: findRoom(c.req.path) }));
  return app;
}

/** A page without the frame of the rooms. @param goesTo - the page that the browser opens next, without a click */
function bare(c: ClientRequest, title: string, text: Child, goesTo: string | null = null) {
  const page = (
    <BarePage title={title} goesTo={goesTo}>
      <p>{text}</p>
    </BarePage>
  );
  return c.html(html`${raw("<!DOCTYPE html>")}${page}`);
}

/** A page with the message of an error. Nothing is logged after the browser has disconnected. */
async function errorPage(
  error: unknown,
  c: ClientRequest,
  { machine, room }: Pick<AppParts, "machine"> & Pick<Place, "room">,
): Promise<Response> {
  const text = faultText(error, c.env.incoming.readableAborted ? { say: () => {} } : machine);
  const status = error instanceof TwtxtError ? (STATUSES[error.code] ?? toStatus(error.code)) : 500;
  c.status(status as 500);
  // Without a session, the page has no navigation.
  if (c.get("csrfToken") === undefined) return bare(c, FAILED, <Sentence text={text} />);
  if (status === SETUP_STATUS && room !== null) {
    return c.render(
      <p class="notice">
        <Sentence text={text} />
      </p>,
      { title: room.title },
    );
  }
  const page = (
    <>
      <Fault text={text} />
      {c.req.method === "GET" && (
        <p>
          <a href={c.req.url}>Try again</a>
        </p>
      )}
    </>
  );
  return c.render(page, { title: FAILED });
}

interface ClientOptions extends Pick<AppParts, "site" | "readAsset"> {
  /** 0 for a free port. */
  port: number;
  machine: Machine;
  choice: OwnSiteChoice;
  rooms: readonly CreateRoom[];
  /** Shows a link with a token to the author. */
  announce(link: string): void;
}

export type RunningClient = Awaited<ReturnType<typeof startClient>>;

/**
 * Starts the client. Resolves once it listens.
 *
 * @throws the error of Node.js if the port cannot be used
 */
export async function startClient(options: ClientOptions) {
  const { machine, choice, site, readAsset } = options;
  const ending = new AbortController();
  let app: ReturnType<typeof clientApp> | null = null;
  const server = createAdaptorServer({
    fetch: (request, env) => app?.fetch(request, env),
    overrideGlobalObjects: false,
  }) as Server;
  const closeServer = prepareClose(server, 0);
  server.listen(options.port, CLIENT_HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const session = new Session(port, options.announce);
  const notices = new Notices();
  const openSite = () => loadSite(machine, choice.settings);
  const context: ClientContext = { machine, choice, openSite, notices, ending: ending.signal };
  const rooms = options.rooms.map((create) => create(context));
  app = clientApp({ session, notices, rooms, site, machine, readAsset });
  // If it fails, the page of the room says why.
  for (const room of rooms) void room.prepare?.().catch(() => {});
  return {
    port,
    link: session.createLink(),
    /** Ends streams, answers open requests, closes, and waits for work that must not be interrupted. */
    async close(): Promise<void> {
      ending.abort();
      await closeServer();
      await Promise.all(rooms.map((room) => room.end?.()));
    },
  };
}
