// plugin/options/comment-words.ts: the English words of the form for comments. options/comment-translations.ts has other languages.

/** The words of the form besides those that it shares with the contact form. */
export const COMMENT_PAGE = {
  comment: "Write a comment",
  text: "Your comment",
  site: "Your web site (optional)",
  note: "Your comment appears here when the author has approved it.",
  own: "I answered on my own site",
  page: "The address of your page",
  failed: "Your comment was not added",
  leaveEmpty: "Leave this empty",
  check: "Check what you have typed: the text can have 2,000 characters, and addresses must be complete.",
  gone: "The reply that you answer is no longer here.",
};

/** The words that the script shows. */
export const COMMENT_STATUS = {
  waiting: "Thank you. Your comment appears here when the author has approved it.",
  closed: "Comments are closed.",
  busy: "Too many comments came in today. Try again tomorrow.",
  full: "Too many comments wait for approval. Try again later.",
  replyTo: "Your reply to {name}",
  cancel: "Cancel",
  edit: "Edit",
  remove: "Delete",
  removeConfirm: "Delete this comment for good?",
  forgetMe: "Forget me in this browser",
  forgetMeConfirm:
    "Forget the key in this browser? You can then no longer change your comments, nor read answers on the contact page.",
  news: "Answers to you since your last visit: {count}",
  published: "Your comment is published.",
  same: "You have already written this.",
  rejected: "not approved",
};

export type CommentWords = typeof COMMENT_PAGE & typeof COMMENT_STATUS;
