// plugin/client/files/files-page.tsx: the page of the room: space, uploads, verification, and the grid of files.
import type { FC } from "hono/jsx";
import { counted, DATES, sizeText } from "../../author/amounts.js";
import { type BlobList, type BlobSite, sumVerifications, type Verification } from "../../author/blobs/blob-site.js";
import type { FormerBlobs, MovedBlob } from "../../author/blobs/received-file.js";
import { shortKey } from "../../blobs/blob.js";
import { oneLine } from "../../http/one-line.js";
import type { BackgroundRun } from "../background-run.js";
import { Fault, Form, type OtherPages, PageLinks, Sentence, Submit } from "../page-parts.js";
import { FileItem, PATH } from "./file-item.js";
import type { Listing, StoredFiles } from "./stored-files.js";
import { UploadForm, UploadList, uploadSummary } from "./upload-list.js";
import type { Uploads } from "./uploads.js";

const KEY_START = 16;

/** The last verification of all blobs. */
export type VerificationRun = BackgroundRun<Verification, { count: number; damaged: readonly string[] }>;

interface FilesPageProps {
  site: BlobSite;
  listing: Listing;
  pages: OtherPages;
  files: StoredFiles;
  uploads: Uploads;
  run: VerificationRun;
  former: readonly FormerBlobs[];
  moving: BackgroundRun<MovedBlob>;
}

export const FilesPage: FC<FilesPageProps> = ({ site, listing, pages, files, uploads, run, former, moving }) => (
  <>
    <div id="space" data-live>
      {listing.list && <Space list={listing.list} quota={site.quota} />}
    </div>
    <UploadForm maxBytes={site.maxBytes} />
    <div role="status" class="visually-hidden">
      <p id="upload-summary" data-live>
        {uploadSummary(uploads)}
      </p>
    </div>
    <div id="uploads" data-live>
      <UploadList uploads={uploads.all} />
    </div>
    <div id="former" data-live>
      <FormerFiles former={former} moving={moving} />
    </div>
    <div id="files" data-live>
      <Fault id="fault" text={listing.fault} />
      {listing.isReading && (
        <p id="reading" class="muted" data-busy>
          {listing.list === null
            ? "Your site has not sent the list of your files yet."
            : "Your site has not answered yet. These are the files that it listed before."}
        </p>
      )}
      {listing.list && <Grid {...{ site, pages, files, former }} list={listing.list} />}
    </div>
    <h2>Verification</h2>
    <Form action={`${PATH}/verify`} class="inline">
      <Submit data-key="v" label="Verify all" />
      <span class="muted">Downloads each file, and checks that it is as you stored it.</span>
    </Form>
    <div id="verification" data-live>
      <VerificationReport run={run} />
    </div>
  </>
);

/** The files of keys that the author had before, which can be moved to the present one. */
const FormerFiles: FC<Pick<FilesPageProps, "former" | "moving">> = ({ former, moving }) => {
  const { results, isRunning, startedAt, fault } = moving;
  const left = results.filter(({ isMoved }) => !isMoved);
  return (
    <>
      {former.map((one) => (
        <FormerKey former={one} isMoving={isRunning} />
      ))}
      {startedAt !== null && (
        <p data-busy={isRunning ? "" : undefined}>{`${counted(results.length - left.length, "file")} moved.`}</p>
      )}
      <Fault text={fault} />
      {left.map(({ key, why }) => (
        <Fault text={`${shortKey(key)} was not moved: ${why}.`} />
      ))}
    </>
  );
};

const FormerKey: FC<{ former: FormerBlobs; isMoving: boolean }> = ({ former, isMoving }) => {
  const { key, count, bytes, fault } = former;
  if (fault !== null) return <Fault text={`Files of your former key ${key} are not shown. ${fault}`} />;
  if (count === 0 || isMoving) return null;
  return (
    <Form action={`${PATH}/move`} class="inline">
      <button type="submit">Move {counted(count, "file")} to your present key</button>
      <span class="muted">
        {`${sizeText(bytes)} of your former key ${key.slice(0, KEY_START)}…: they stay where they are until you move them. Pictures in posts keep their URLs.`}
      </span>
    </Form>
  );
};

const Space: FC<{ list: BlobList; quota: BlobSite["quota"] }> = ({ list: { count, bytes }, quota }) => {
  const text = `${sizeText(bytes)} of ${sizeText(quota.bytes)}, ${count} of ${counted(quota.count, "file")}`;
  return (
    <p class="space">
      <meter
        min={0}
        max={quota.bytes}
        high={quota.bytes * 0.9}
        value={Math.min(bytes, quota.bytes)}
        aria-label="Space used"
      >
        {text}
      </meter>
      <span class="muted">{text} used</span>
    </p>
  );
};

const Grid: FC<Pick<FilesPageProps, "site" | "pages" | "files" | "former"> & { list: BlobList }> = (props) => {
  const { site, list, pages, files, former } = props;
  const isNewKey = former.some(({ count }) => count > 0);
  const { rows, lost } = list;
  const { sharedUrl } = site;
  return (
    <>
      {lost.length > 0 && (
        <div id="lost" class="notice failure">
          {lost.map(({ key, why }) => (
            <p>
              {shortKey(key)}: {why}.
            </p>
          ))}
          <p>
            <Sentence text={ADVICE.missing} />
          </p>
        </div>
      )}
      <h2 id="stored">Stored files</h2>
      {rows.length === 0 && (
        <p id="empty" class="muted">
          {isNewKey ? "Your present key has no files yet." : "No files yet. Choose some above."}
        </p>
      )}
      <ul class="files" id="file-items">
        {rows.map((row) => (
          <FileItem
            file={{ ...row, sharedUrl, opened: files.openedName(row.blob), mayBePicture: files.mayBePicture(row.blob) }}
          />
        ))}
      </ul>
      <PageLinks pages={pages} of="files" />
    </>
  );
};

/** What to do about files, by the states of their verification. */
const ADVICE = {
  wrong: "Delete it below, then upload your own file again above.",
  missing: "To store it again, upload the file above; to record on this machine that it is gone, type `blob rm KEY`.",
  unread: "These files may be right. Verify again when the site can be reached.",
};

const VerificationReport: FC<{ run: VerificationRun }> = ({ run }) => {
  const { results: verifications, subject, startedAt, isRunning, fault } = run;
  if (startedAt === null || subject === null) return <p class="muted">Not verified since the client was started.</p>;
  const { count, damaged } = subject;
  return (
    <>
      {isRunning && <progress max={Math.max(1, count)} value={verifications.length} aria-label="Verified files" />}
      {isRunning && <p data-busy="">{`Verified ${verifications.length} of ${count}.`}</p>}
      {isRunning && <p class="unscripted">Reload this page to see its progress.</p>}
      {!isRunning && fault === null && (
        <p>{`Verified ${counted(count, "file")} on ${DATES.format(startedAt)}: ${sumVerifications(verifications)}.`}</p>
      )}
      <Fault text={fault} />
      {damaged.map((line) => (
        <Fault text={line} />
      ))}
      {Object.entries(ADVICE).map(([state, advice]) => (
        <Failures found={verifications.filter((one) => one.state === state)} advice={advice} />
      ))}
    </>
  );
};

const Failures: FC<{ found: readonly Verification[]; advice: string }> = ({ found, advice }) =>
  found.length === 0 ? null : (
    <>
      <ul class="items">
        {found.map(({ key, filename, why }) => (
          <li data-item tabindex={-1}>
            <p>
              <bdi>{oneLine(filename, 255)}</bdi> <span class="muted">{shortKey(key)}</span>
            </p>
            <p class="failure">
              <Sentence text={why ?? ""} />
            </p>
          </li>
        ))}
      </ul>
      <p>
        What to do: <Sentence text={advice} />
      </p>
    </>
  );
