// plugin/host/preload.ts: loads every module that a request or an hourly job imports later.

/**
 * To be called before a server listens: Node.js remembers a module that it could not load, such as when the process had no
 * file descriptors left, and fails each later import of it until the process ends.
 */
export async function preload(): Promise<void> {
  await Promise.all([
    import("nodemailer"),
    import("parse5"),
    import("hast-util-from-parse5"),
    import("microformats-parser"),
    import("../http/nonces.js"),
    import("../http/signature.js"),
    import("../mentions/inform/digest.js"),
    import("../mentions/inform/mail.js"),
    import("../mentions/inform/rebuild.js"),
    import("../mentions/inform/webhook.js"),
    import("../mentions/receive/manage.js"),
    import("../mentions/receive/verify-pending.js"),
    import("../mentions/send/send.js"),
    import("./blob-services.js"),
    import("./inbox-services.js"),
  ]);
}
