// plugin/host/preload.ts: loads every module that a request or a job imports later.

/**
 * Call it before a server listens: Node.js remembers a module that it could not load, such as when the process had no file
 * descriptors left, and fails each later import of it until the process ends.
 */
export async function preload(): Promise<void> {
  await Promise.all([
    import("nodemailer"),
    import("parse5"),
    import("hast-util-from-parse5"),
    import("microformats-parser"),
    import("../http/signature.js"),
    import("../mentions/inform/mentions-feed.js"),
    import("../mentions/receive/manage.js"),
    import("./verification.js"),
  ]);
}
