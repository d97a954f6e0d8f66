// plugin/messages/inbox/guest-document.ts: the discovery document of a guest's address, made from its key.
import { hash } from "node:crypto";
import { allowing, type Handler, line, matchesEtag } from "../../http/respond.js";
import { isKeyText } from "../../keys/key.js";
import { ROUTES } from "../../site/routes.js";

/** As the static documents have them. */
const HEADERS = {
  "access-control-allow-origin": "*",
  "cache-control": "public, max-age=0",
  "x-content-type-options": "nosniff",
};

/**
 * Answers with the key and the inbox of a guest, for every valid key: nothing is stored. Anything else is a 404 without JSON,
 * so that no client takes it for a document.
 *
 * @param inboxUrl - the URL of the inboxes, without a slash at its end
 * @see PROTOCOL 3.1, 3.5
 */
export function guestDocument(inboxUrl: string): Handler {
  const answer: Handler = async (request, { params }) => {
    const key = params.guest ?? "";
    if (!isKeyText(key)) return line("Not found.", 404);

    const content = `${JSON.stringify({ endpoint: `${inboxUrl}/${key}`, key })}\n`;
    const etag = `"${hash("sha256", content, "base64url")}"`;
    const headers = { ...HEADERS, etag, "content-type": "application/json" };
    if (matchesEtag(request, etag)) return { status: 304, headers, body: null };
    return { status: 200, headers, body: content };
  };
  return allowing(ROUTES.guest.methods, answer, HEADERS);
}
