// plugin/client/messages/attachment-list.tsx: files of messages: their list, downloads, and pictures.
import type { FC } from "hono/jsx";
import PQueue from "p-queue";
import { receiveAttachment, splitAttachments } from "../../author/messages/attachments.js";
import { TwtxtError } from "../../errors.js";
import { pictureToShow } from "../../pictures/picture-to-show.js";
import type { ClientRequest } from "../client-request.js";
import { downloadResponse, pictureResponse } from "../contents-response.js";
import { MessageText } from "../strangers-text.js";
import { conversationPath, filePath, type RoomParts } from "./message-requests.js";

/** Forms are parsed in memory. */
export const MAX_FILE_BYTES = 31 * 2 ** 20;
const PICTURE_NAME = /\.(?:png|jpe?g|gif|webp)(?: \(|$)/i;

/** @param hasPictures - whether pictures can be shown; guests are strangers */
export const TextWithFiles: FC<{ id: string; text: string; hasPictures: boolean }> = ({ id, text, hasPictures }) => {
  const { text: words, attachments } = splitAttachments(text);
  return (
    <>
      {words !== "" && <MessageText text={words} />}
      {attachments.length > 0 && (
        <ul class="attachments">
          {attachments.map(({ label }, number) => (
            <li>
              <span dir="auto">{label}</span>
              <a class="button" href={filePath(id, number)}>
                Download <span class="visually-hidden">{label}</span>
              </a>
              {hasPictures && PICTURE_NAME.test(label) && (
                <a class="button" href={`${filePath(id, number)}/picture`} data-picture={label}>
                  Show picture
                </a>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

export function addAttachments({ routes, open, choice, machine, ending, notices }: RoomParts): void {
  // Opening needs the whole file in memory.
  const queue = new PQueue({ concurrency: 1 });

  const received = async (c: ClientRequest) => {
    const { address, text, signers } = await (await open()).written(c.req.param("id") ?? "");
    const attachment = splitAttachments(text).attachments[Number(c.req.param("number"))];
    if (!attachment) throw new TwtxtError("not-found", "The message has no such file.");
    const signal = AbortSignal.any([c.req.raw.signal, ending]);
    const receive = () =>
      queue.add(() => receiveAttachment(attachment, signers, { choice, machine, signal }), { signal });
    return { address, receive };
  };

  routes.get("/file/:id/:number", async (c) => {
    const { address, receive } = await received(c);
    return notices.orRedirect(c, conversationPath(address), async () => {
      const { filename, bytes: body } = await receive();
      return downloadResponse({ filename, size: body.length, body, etag: readEtag(c) });
    });
  });

  routes.get("/file/:id/:number/picture", async (c) => {
    const file = await (await received(c)).receive();
    const { bytes: body, type } = pictureToShow(file.bytes, file.filename);
    return pictureResponse({ type, body, etag: readEtag(c) });
  });
}

function readEtag(c: ClientRequest): string {
  return `${c.req.param("id")}-${c.req.param("number")}`;
}
