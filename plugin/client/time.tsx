// plugin/client/time.tsx: times in pages.
import type { FC } from "hono/jsx";
import { DATES } from "../author/amounts.js";

/** @param at - an ISO date */
export const Time: FC<{ at: string }> = ({ at }) => <time datetime={at}>{DATES.format(new Date(at))}</time>;
