// test/helpers/posting-bluesky.ts: a server of an account on Bluesky, after docs.bsky.app and atproto.com.
import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { base32nopad } from "@scure/base";
import { type LoopbackServer, loopbackServer } from "./loopback.js";

const DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const HANDLE = "alice.example";
const PASSWORD = "abcd-efgh-ijkl-mnop";
const POSTS = "app.bsky.feed.post";

export interface PostingBluesky extends LoopbackServer {
  did: string;
  /** The URL of the server that has the account. */
  home: string;
  /** Records by key. */
  records: Map<string, Record<string, unknown>>;
  refusesPictures: boolean;
  /** Uploaded pictures, with their types. */
  blobs: { type: string | undefined; bytes: Uint8Array }[];
  /** What was written, such as `putRecord 3k…`, oldest first. */
  writes: string[];
  environment: Record<string, string>;
}

export async function postingBluesky(): Promise<PostingBluesky> {
  const server = await loopbackServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", server.url);
    const body = await buffer(request);
    const json = () => JSON.parse(String(body));
    const send = (status: number, value: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    const method = pathname.replace("/xrpc/com.atproto.", "");
    if (method === "server.createSession") {
      const { identifier, password } = json();
      if (identifier !== HANDLE || password !== PASSWORD)
        return send(401, { error: "AuthenticationRequired", message: "Invalid identifier or password" });
      const service = [{ id: "#atproto_pds", type: "AtprotoPersonalDataServer", serviceEndpoint: fake.home }];
      return send(200, { did: DID, handle: HANDLE, accessJwt: "jwt", refreshJwt: "r", didDoc: { id: DID, service } });
    }
    if (request.headers.authorization !== "Bearer jwt") return send(401, { error: "AuthMissing" });
    if (method === "repo.getRecord") {
      const rkey = searchParams.get("rkey") ?? "";
      const value = fake.records.get(rkey);
      if (!value) return send(400, { error: "RecordNotFound", message: "Could not locate record" });
      return send(200, { uri: `at://${DID}/${POSTS}/${rkey}`, cid: "bafy", value });
    }
    if (method === "repo.uploadBlob" && fake.refusesPictures) return send(400, { error: "InvalidMimeType" });
    if (method === "repo.uploadBlob") {
      fake.blobs.push({ type: request.headers["content-type"], bytes: body });
      const ref = { $link: toCid(body) };
      return send(200, { blob: { $type: "blob", ref, mimeType: request.headers["content-type"], size: body.length } });
    }
    const { repo, collection, rkey, record } = json();
    if (repo !== DID || collection !== POSTS) return send(400, { error: "InvalidRequest" });
    // https://atproto.com/specs/tid
    if (!/^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/.test(rkey))
      return send(400, { error: "InvalidRequest", message: "Invalid record key" });
    fake.writes.push(`${method.replace("repo.", "")} ${rkey}`);
    if (method === "repo.putRecord") fake.records.set(rkey, record);
    if (method === "repo.deleteRecord") fake.records.delete(rkey);
    return send(200, { uri: `at://${DID}/${POSTS}/${rkey}`, cid: "bafy" });
  });
  const environment = {
    TWTXT_BLUESKY_HANDLE: `@${HANDLE}`,
    TWTXT_BLUESKY_PASSWORD: PASSWORD,
    TWTXT_BLUESKY_URL: server.url,
  };
  const fake: PostingBluesky = Object.assign(server, {
    did: DID,
    home: server.url,
    refusesPictures: false,
    records: new Map<string, Record<string, unknown>>(),
    blobs: [],
    writes: [],
    environment,
  });
  return fake;
}

/** https://dasl.ing/cid.html */
function toCid(bytes: Uint8Array): string {
  const digest = createHash("sha256").update(bytes).digest();
  return `b${base32nopad.encode(Uint8Array.of(1, 0x55, 0x12, digest.length, ...digest)).toLowerCase()}`;
}
