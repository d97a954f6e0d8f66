// plugin/client/rooms.ts: the rooms of the client, in the order of the navigation.
import { filesRoom } from "./files/files-room.js";
import { healthRoom } from "./health/health-room.js";
import { mentionsRoom } from "./mentions/mentions-room.js";
import { messagesRoom } from "./messages/messages-room.js";
import type { CreateRoom } from "./notices.js";
import { timelineRoom } from "./timeline/timeline-room.js";
import { writeRoom } from "./write/write-room.js";

export const ROOMS: readonly CreateRoom[] = [
  timelineRoom,
  writeRoom,
  mentionsRoom,
  messagesRoom,
  filesRoom,
  healthRoom,
];
