// plugin/options/answer-words.ts: the English words of mails to readers and of the pages behind their links. options/answer-translations.ts has other languages.

export const ANSWER_WORDS = {
  confirmSubject: "Confirm: answers from {host} by mail",
  confirmText:
    "This address was entered at {host}, to be told when there is an answer. To confirm, open this page and press the button:",
  confirmElse:
    "If you did not enter it, you need to do nothing: you get no other mail, and the address is deleted after two days.",
  answerSubject: "New answers to you at {host}: {count}",
  answerText: "Answers to your comment on {page}:",
  messageSubject: "A private answer waits for you at {host}",
  messageText: "To read it, open this page in the browser in which you wrote:",
  stopText: "To get no more of these mails, open this page:",
  question: "Tell {address} when there is an answer?",
  confirm: "Confirm",
  remove: "No, delete the address",
  confirmed: "{address} is told when there is an answer",
  stop: "Stop, and delete the address",
  ended: "No mail is sent through this link",
  endedText: "The address is deleted, or the link has expired.",
};

export type AnswerWords = typeof ANSWER_WORDS;
