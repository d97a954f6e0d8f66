// build/undici.mjs: the part of undici that the functions use, instead of its main file.
import requestBy from "undici/lib/api/api-request.js";
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";

export { Agent, buildConnector };

/** Like undici's `request`, but with a required URL and dispatcher. */
export function request(url, { dispatcher, ...options }) {
  return requestBy.call(dispatcher, { ...options, origin: url.origin, path: url.pathname + url.search });
}
