// plugin/client/layout.tsx: what all pages of the client share: navigation, notices, help of keys.
import type { Child, FC, PropsWithChildren } from "hono/jsx";
import { typed } from "../author/invocation.js";
import { ActionButton } from "./form.js";
import type { Notice } from "./notices.js";
import type { KeyHelp, News, Room } from "./room.js";
import { Sentence } from "./sentence.js";

declare module "hono" {
  interface ContextRenderer {
    // biome-ignore lint/style/useShorthandFunctionType: merged with hono's interface
    (content: Child | Promise<Child>, page: { title: string }): Response | Promise<Response>;
  }
}

/** Where a page is. */
export interface Place {
  /** The host of the site; `null` if there is none here. */
  site: string | null;
  rooms: readonly Room[];
  /** `null` for pages outside of rooms. */
  room: Room | null;
}

/** Larger numbers would cover the icons. */
const MAX_COUNT = 99;

/** Lines in a square of 24, by the path of the room. */
const ICONS: Readonly<Record<string, string>> = {
  "/timeline": "M4 5h16M4 10h16M8 15h12M8 20h8",
  "/write": "M5 19l1-4.5L15.5 5l3.5 3.5L9.5 18zM13 7.5l3.5 3.5",
  "/mentions": "M15.5 12a3.5 3.5 0 1 1-7 0a3.5 3.5 0 1 1 7 0v1.2a2.4 2.4 0 0 0 4.8 0V12a8.3 8.3 0 1 0-3.4 6.7",
  "/messages": "M3.5 6h17v12.5h-17zM4 6.5l8 6.5l8-6.5",
  "/files": "M3.5 19V5.5h6l2 2.5h9v11z",
  "/health": "M3 12.5h4.5l2.5-7l4 13.5l2.5-6.5H21",
};

const KEYS: readonly KeyHelp[] = [
  { key: "j", does: "to the next item" },
  { key: "k", does: "to the previous item" },
  { key: "?", does: "shows these keys" },
  { key: "y", does: "answers a question with yes" },
  { key: "q", does: "leaves a question" },
];

interface PageProps {
  title: string;
  place: Place;
  notice: Notice | null;
}

/** A page of a room. */
export const Page: FC<PropsWithChildren<PageProps>> = ({ title, place: { room, rooms, site }, notice, children }) => (
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
          The client was ended, or started again since. Copy what you typed and have not saved. Then open the link that{" "}
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
            <Icon path={room.path} />
            <span class="room">{room.title}</span>
            <Count news={room.news?.() ?? null} />
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

const Icon: FC<{ path: string }> = ({ path }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={ICONS[path] ?? "M5 5h14v14H5z"} />
  </svg>
);

const Count: FC<{ news: News | null }> = ({ news }) =>
  news !== null && news.count > 0 ? (
    <span class="badge">
      {news.count > MAX_COUNT ? `${MAX_COUNT}+` : news.count}
      <span class="visually-hidden"> {news.what}</span>
    </span>
  ) : null;

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
      {notice.undo && (
        <ActionButton {...notice.undo} shortcut="u">
          Undo
        </ActionButton>
      )}
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
