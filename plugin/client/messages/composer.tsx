// plugin/client/messages/composer.tsx: the form for a message, with its draft and a file.

import type { FC } from "hono/jsx";
import { sizeText } from "../../author/amounts.js";
import { toVersion } from "../../author/draft-version.js";
import type { MessageDraft } from "../../author/messages/message-drafts.js";
import type { TwtxtError } from "../../errors.js";
import { readGuestKey } from "../../keys/guest.js";
import { DraftFields, DraftState } from "../draft-state.js";
import { Form } from "../form.js";
import { Sentence } from "../page-texts.js";
import { conversationPath, draftPath, keyPath } from "./message-requests.js";

export interface ComposerProps {
  address: string;
  /** What was typed before; `null` for nothing. */
  draft: MessageDraft | null;
  /** The largest file that can be attached, in bytes; `null` if the site stores none. */
  maxFileBytes: number | null;
  /** A message that could not be sent; `null` for none. */
  unsent: UnsentMessage | null;
}

export interface UnsentMessage {
  text: string;
  /** The name of the file that was attached; `null` for none. A page cannot choose it again. */
  filename: string | null;
  error: TwtxtError;
}

export const Composer: FC<ComposerProps> = ({ address, draft, unsent, maxFileBytes }) => (
  <Form action={conversationPath(address)} class="composer" enctype="multipart/form-data">
    {unsent && (
      <p class="notice failure" role="alert">
        Not sent: <Sentence text={unsent.error.message} />{" "}
        {unsent.filename !== null && `Choose ${unsent.filename} again. `}
        {unsent.error.code === "key-changed" && <a href={keyPath(address)}>Compare keys</a>}
      </p>
    )}
    <DraftFields id={address} seen={draft ? toVersion(draft) : ""} />
    <label for="text">Your message</label>
    <textarea id="text" name="text" rows={4} data-key="r">
      {`\n${unsent?.text ?? draft?.text ?? ""}`}
    </textarea>
    <DraftState saved={draft?.saved ?? null} />
    <FileField address={address} maxFileBytes={maxFileBytes} unsent={unsent} />
    <div class="actions">
      <button type="submit" class="primary">
        Send
      </button>
      <button type="submit" formaction={draftPath(address)} formnovalidate data-draft="">
        Save draft
      </button>
    </div>
  </Form>
);

/** @param unsent - its file is to be chosen again */
const FileField: FC<Pick<ComposerProps, "address" | "maxFileBytes" | "unsent">> = ({
  address,
  maxFileBytes,
  unsent,
}) => {
  if (readGuestKey(address) !== null) {
    return <p class="muted">Files cannot be attached: guests read on your contact page, which cannot open them.</p>;
  }
  if (maxFileBytes === null) {
    return (
      <p class="muted">To attach files, set the option blobs: true if it is not set yet, then build and deploy.</p>
    );
  }
  return (
    <details open={unsent?.filename != null}>
      <summary>Attach a file</summary>
      <label for="file">File, at most {sizeText(maxFileBytes)}</label>
      <input id="file" name="file" type="file" class="wide" aria-describedby="file-note" />
      <p id="file-note" class="muted">
        The file is sealed on this machine. Your site stores it, and only you and {address} can open it.
      </p>
    </details>
  );
};
