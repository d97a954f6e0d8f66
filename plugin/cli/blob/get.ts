// plugin/cli/blob/get.ts: `blob get`: saves a blob, the author's own or one that another owner shares.
import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { shortKey } from "../../blobs/blob.js";
import type { Download } from "../../blobs/client/client.js";
import {
  getShared,
  parseSharedUrl,
  type ReceivedBlob,
  type ReceiveOptions,
  receiveBlob,
} from "../../blobs/client/download.js";
import { WRONG_SHARED_ADVICE } from "../../blobs/client/known-blobs.js";
import { isSealedType, MAX_SEALED_BYTES, parseSealedFile, type SealedFile } from "../../blobs/client/sealed-file.js";
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
