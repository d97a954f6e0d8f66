// plugin/client/files/upload-list.tsx: the form for uploads, and the uploads with their progress.
import type { FC } from "hono/jsx";
import { counted, listed, sizeText } from "../../author/amounts.js";
import { visibility } from "../../author/blobs/blob-site.js";
import { oneLine } from "../../http/one-line.js";
import { ActionButton, Form, Sentence, Submit } from "../page-parts.js";
import { MAX_FORM_BYTES } from "../session.js";
import { PATH } from "./file-item.js";
import type { Upload, Uploads } from "./uploads.js";

export const UploadForm: FC<{ maxBytes: number }> = ({ maxBytes }) => (
  <Form id="upload" class="upload" enctype="multipart/form-data" action={`${PATH}/upload`}>
    <fieldset>
      <legend>Who can read the files</legend>
      <label>
        <input type="radio" name="visibility" value="private" checked /> Only you
      </label>
      <label>
        <input type="radio" name="visibility" value="public" /> Anyone with the link (public)
      </label>
      <label>
        <input type="radio" name="visibility" value="sealed" /> Only you, sealed: not even your site can read them
      </label>
    </fieldset>
    <label class="check">
      <input type="checkbox" name="clean" value="yes" checked /> Remove location and other metadata from pictures
    </label>
    <div class="inline">
      <label for="chosen">Files</label>
      <input id="chosen" type="file" name="file" multiple data-key="a" />
      <Submit class="primary" label="Upload" />
    </div>
    <p class="muted">
      Up to {sizeText(maxBytes)} each.{" "}
      <span class="scripted">You can also drop files on this page, or paste them.</span>
      <span class="unscripted">Without scripts, up to {sizeText(MAX_FORM_BYTES)} together.</span>
    </p>
  </Form>
);

export const UploadList: FC<{ uploads: readonly Upload[] }> = ({ uploads }) => {
  if (uploads.length === 0) return null;
  const isBusy = uploads.some(({ isEnded, isPaused }) => !isEnded && !isPaused);
  // The next response no longer lists these.
  const isLeaving = uploads.some(({ isStoredCleanly }) => isStoredCleanly);
  return (
    <>
      <h2 id="uploads-title" data-busy={isBusy || isLeaving ? "" : undefined}>
        Uploads
      </h2>
      <p id="uploads-reload" class="unscripted" hidden={!isBusy}>
        Reload this page to see their progress.
      </p>
      <ul class="items" id="upload-items">
        {uploads.map((upload) => (
          <UploadItem upload={upload} />
        ))}
      </ul>
      <div id="uploads-clear">
        {uploads.some(({ isEnded, isStoredCleanly }) => isEnded && !isStoredCleanly) && (
          <ActionButton action={`${PATH}/uploads/clear`} class="quiet" label="Clear the list" />
        )}
      </div>
    </>
  );
};

/** How many uploads have ended; changes rarely, so that screen readers can follow. */
export function uploadSummary({ all, removed }: Uploads): string {
  const total = all.length + removed;
  if (total === 0) return "";
  const count = (stage: Upload["stage"]) => all.filter((upload) => upload.stage === stage).length;
  const ended = listed([
    [count("done") + removed, "done"],
    [count("failed"), "failed"],
    [count("cancelled"), "cancelled"],
  ]);
  return `${counted(total, "upload")}${ended === "" ? "" : `: ${ended}`}.`;
}

const UploadItem: FC<{ upload: Upload }> = ({ upload }) => {
  const { id, choice } = upload;
  const name = oneLine(choice.filename, 255) || "File without a name";
  return (
    <li id={`upload-${id}`} data-item tabindex={-1} aria-label={name}>
      <p id={`upload-${id}-name`} class="file-name">
        <bdi>{name}</bdi>
      </p>
      <div id={`upload-${id}-progress`}>
        {!upload.isEnded && (
          <progress max={Math.max(1, upload.total)} value={upload.sent} aria-label={`Progress of ${name}`} />
        )}
        <p class={upload.stage === "failed" ? "failure" : "muted"}>
          <Sentence text={describeState(upload)} />
        </p>
        {upload.stage !== "failed" && upload.remark && <p class="muted">{upload.remark}</p>}
      </div>
      <div id={`upload-${id}-actions`} class="actions">
        {upload.canPause && <Button upload={upload} action="pause" label="Pause" shortcut="s" />}
        {upload.isPaused && <Button upload={upload} action="resume" label="Resume" shortcut="s" />}
        {upload.canStop && <Button upload={upload} action="cancel" label="Cancel" shortcut="c" />}
        {upload.canRetry && !upload.isPaused && (
          <Button upload={upload} action="retry" label="Try again" shortcut="s" />
        )}
      </div>
    </li>
  );
};

type UploadAction = "pause" | "resume" | "cancel" | "retry";

const Button: FC<{ upload: Upload; action: UploadAction; label: string; shortcut: string }> = ({
  upload: { id, choice },
  action,
  ...button
}) => (
  <ActionButton
    action={`${PATH}/uploads/${id}/${action}`}
    id={`upload-${id}-${button.shortcut}`}
    about={oneLine(choice.filename)}
    {...button}
  />
);

function describeState({ stage, sent, total, remark, result }: Upload): string {
  const amount = `${sizeText(sent)} of ${sizeText(total)}`;
  switch (stage) {
    case "receiving":
      return "Reading the file.";
    case "waiting":
      return `Waiting to be sent, ${sizeText(total)}.`;
    case "sending":
      return `${amount} sent.`;
    case "paused":
      return `Paused at ${amount}. Resuming starts from the beginning.`;
    case "storing":
      return "Sent. Your site is storing it.";
    case "done":
      return result
        ? `Stored: ${result.outcome}, ${visibility(result.blob)}.${result.note ? ` ${result.note}` : ""}`
        : "";
    case "failed":
      return remark ?? "";
    case "cancelled":
      return "Cancelled. Nothing was stored.";
  }
}
