// plugin/http/unreachable.ts: the error for one's own site when it does not answer.
import { TwtxtError } from "../errors.js";

/**
 * @param error - as `fetch` throws it
 * @returns `unreachable`, with a hint where nothing listens at the address
 */
export function siteUnreachable(url: string, error: unknown): TwtxtError {
  const { cause, message } = Object(error);
  if (Object(cause).code === "UND_ERR_SOCKET") {
    return new TwtxtError("unreachable", `${url}: the connection broke off.`, { cause: error });
  }
  const reason = String(Object(cause).code ?? Object(cause).message ?? message);
  const hint =
    reason === "ECONNREFUSED" ? " Nothing answers there: is the site up, or is it reached by another --url?" : "";
  return new TwtxtError("unreachable", `${url} could not be reached: ${reason}.${hint}`, { cause: error });
}
