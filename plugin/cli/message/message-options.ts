// plugin/cli/message/message-options.ts: the ids and options that all actions of `message` have.
import { actionsWith } from "../command.js";
import { idPrefix, OWN_SITE_OPTIONS } from "../options.js";

export const action = actionsWith(OWN_SITE_OPTIONS);

const LEAST = 4;
export const ID = idPrefix(LEAST, 64, `an id of at least ${LEAST} characters such as 4f0c1a2b, as the lists show it`);
