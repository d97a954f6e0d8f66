// plugin/messages/sealing.ts: sealing and opening on Node.
import { randomBytes } from "node:crypto";
import { nodePrimitives } from "./node-primitives.js";
import { saltpackOn } from "./saltpack/saltpack.js";

export const { seal, open, secretKey } = saltpackOn(nodePrimitives, randomBytes);
