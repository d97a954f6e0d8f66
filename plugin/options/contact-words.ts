// plugin/options/contact-words.ts: the English words of the contact form. options/contact-translations.ts has other languages.

export const CONTACT_PAGE = {
  title: "Contact",
  intro:
    "Write to {address} in private. Your message is encrypted on your device: neither this site nor the network can read it.",
  message: "Your message",
  name: "Your name (optional)",
  send: "Send",
  kept: "This conversation is kept in this browser only. Come back to this page to read the answer.",
  forget: "Forget this conversation",
  save: "Save a copy",
  open: "Continue a saved conversation",
  terminal: "Write from a terminal",
  compare: "To verify the recipient, compare the key:",
  mail: "Tell me by mail when there is an answer (optional)",
  stopMail: "Stop",
  noScript: "To write here, turn on JavaScript. You can also write from a terminal:",
};

/** The words that the script of the form for comments shows, too. */
export const SHARED_STATUS = {
  sending: "Sending…",
  tooLong: "This message is {count} characters too long.",
  offline: "The site cannot be reached. Check your connection.",
  refused: "The site refused the message.",
  wrongClock:
    "The clock of this device is wrong, so the site cannot give you your answers. Set the clock and reload the page.",
  broken: "Something went wrong on this page. Reload it.",
  notLoaded: "The form could not be loaded. Check your connection and reload the page.",
  noStorage:
    "This browser does not store anything for this page: it may block this, or have no space left. Change that, then try again.",
  checkMail: "Check your mail, and confirm the address there.",
  told: "You are told of answers by mail.",
};
export type SharedWords = typeof SHARED_STATUS;

export const CONTACT_STATUS = {
  conversation: "Conversation",
  you: "You",
  failed: "Not sent.",
  retry: "Try again",
  otherKey:
    "Not sent: this site now names another key for {address} than this page. Reload the page. If you see this again, contact {address} in another way.",
  busy: "Too many messages came from your network. Try again tomorrow.",
  full: "The inbox cannot take messages at the moment. Try again later.",
  forgetConfirm: "Forget this conversation? Its key and messages are deleted and cannot be restored.",
  forgotten: "The conversation is forgotten.",
  replaceConfirm: "Replace the conversation in this browser with the copy?",
  badCopy: "This file is not a copy of a conversation with this site.",
  unverified: "Not signed with the key of {address}.",
  unreadable: "This message cannot be opened.",
  noCrypto:
    "Your browser cannot encrypt on this page. It needs HTTPS and a private database. You can write from a terminal:",
  ...SHARED_STATUS,
};

export type ContactStatus = typeof CONTACT_STATUS;
export type ContactWords = typeof CONTACT_PAGE & ContactStatus;
