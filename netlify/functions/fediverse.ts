// netlify/functions/fediverse.ts: answers for handles at the domain of the site. PROTOCOL 2.7
import { fediverseHandlers } from "../../plugin/host/fediverse.js";
import { endpointFunction } from "../endpoint-function.js";

export const fediverse = endpointFunction(fediverseHandlers);
