// plugin/client/layout.tsx: the frame of all pages: navigation, notices, and the list of keys.
import type { Child, FC, PropsWithChildren } from "hono/jsx";
import { typed } from "../author/invocation.js";
import { type KeyHelp, type News, type Notice, PARAMETER, type Room, UNDO_PATH } from "./notices.js";
import { ActionButton, Sentence } from "./page-parts.js";

declare module "hono" {
  interface ContextRenderer {
    // biome-ignore lint/style/useShorthandFunctionType: only an interface can be merged with hono's
    (content: Child | Promise<Child>, page: { title: string }): Response | Promise<Response>;
  }
}

export interface Place {
  /** The host of the site; `null` if there is none here. */
  site: string | null;
  rooms: readonly Room[];
  /** `null` for pages outside of rooms. */
  room: Room | null;
}

/** Larger numbers would cover the icons. */
const MAX_COUNT = 99;

const KEYS: readonly KeyHelp[] = [
  { key: "j", does: "to the next item" },
  { key: "k", does: "to the previous item" },
  { key: "?", does: "shows these keys" },
  { key: "y", does: "answers a question with yes" },
  { key: "q", does: "leaves a question" },
];

export const Page: FC<PropsWithChildren<{ title: string; place: Place; notice: Notice | null }>> = ({
  title,
  place: { room, rooms, site },
  notice,
  children,
}) => (
  <html lang="en">
    <Head title={room === null || room.title === title ? title : `${title} · ${room.title}`} />
    <body>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="side">
        {site && <p class="site">{site}</p>}
        <Navigation rooms={rooms} current={room} />
      </header>
      <main id="main" tabindex={-1}>
        <h1>{title}</h1>
        <p id="announced" class="visually-hidden" role="status" />
        <NoticeText notice={notice} />
        {children}
        <p id="unanswered" class="notice" hidden>
          The client has ended, or was restarted. Copy what you have typed but not saved, then open the link that{" "}
          <code>{typed("client")}</code> shows.
        </p>
      </main>
      <KeyDialog keys={[...KEYS, ...(room?.keys ?? [])]} />
    </body>
  </html>
);

const Navigation: FC<{ rooms: readonly Room[]; current: Room | null }> = ({ rooms, current }) => (
  <nav aria-label="Rooms">
    <ul id="rooms" data-live>
      {rooms.map((room) => (
        <li id={`room-${room.path.slice(1)}`}>
          <a href={room.path} aria-current={room === current ? "page" : undefined}>
            <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
              <path d={room.icon} />
            </svg>
            <span class="room">{room.title}</span>
            <Count {...room.news?.()} />
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

const Count: FC<Partial<News>> = ({ count = 0, what }) =>
  count > 0 && (
    <span class="badge">
      {count > MAX_COUNT ? `${MAX_COUNT}+` : count}
      <span class="visually-hidden"> {what}</span>
    </span>
  );

/** A page without a session, or about an error outside of a room. */
export const BarePage: FC<PropsWithChildren<{ title: string; goesTo: string | null }>> = ({
  title,
  goesTo,
  children,
}) => (
  <html lang="en">
    <Head title={title}>{goesTo && <meta http-equiv="refresh" content={`0;url=${goesTo}`} />}</Head>
    <body class="bare">
      <main>
        <h1>{title}</h1>
        {children}
      </main>
    </body>
  </html>
);

const Head: FC<PropsWithChildren<{ title: string }>> = ({ title, children }) => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <meta name="color-scheme" content="light dark" />
    <title>{title}</title>
    <link rel="icon" href="/client.svg" />
    <link rel="stylesheet" href="/client.css" />
    <script type="module" src="/client.js" />
    {children}
  </head>
);

const NoticeText: FC<{ notice: Notice | null }> = ({ notice }) =>
  notice && (
    <div class={notice.isFailure ? "notice failure" : "notice"}>
      <p>
        <Sentence text={notice.text} />
      </p>
      {notice.undo && <ActionButton action={UNDO_PATH} fields={{ [PARAMETER]: notice.id }} shortcut="u" label="Undo" />}
    </div>
  );

const KeyDialog: FC<{ keys: readonly KeyHelp[] }> = ({ keys }) => (
  <dialog id="keys" aria-labelledby="keys-title">
    <h2 id="keys-title">Keys</h2>
    <dl>
      {keys.map(({ key, does }) => (
        <div data-help={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <form method="dialog">
      <button type="submit">Close</button>
    </form>
  </dialog>
);
