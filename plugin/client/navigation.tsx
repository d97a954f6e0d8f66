// plugin/client/navigation.tsx: the list of rooms, each with an icon and the number of what is new or waits there.
import type { FC } from "hono/jsx";
import type { News, Room } from "./room.js";

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

export const Navigation: FC<{ rooms: readonly Room[]; current: Room | null }> = ({ rooms, current }) => (
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
