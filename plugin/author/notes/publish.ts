// plugin/author/notes/publish.ts: publishes new files of a site by git: adds, commits and pushes them, and nothing else.
import { relative } from "node:path";
import { TwtxtError } from "../../errors.js";
import { shellQuoted } from "../../keys/secret-file.js";
import { readText } from "../files.js";
import type { Machine } from "../machine.js";
import type { Site } from "../site.js";
import { picturesBeside } from "./draft-pictures.js";
import { readPost } from "./front-matter.js";
import { type Git, type GitRun, openGit } from "./git.js";

/** The commands that publish files, for the author to confirm. */
export interface Publication {
  commands: readonly GitCommand[];
  /** The subjects of earlier commits that the push publishes, too; newest first. */
  earlier: readonly string[];
  /** The name of the branch at the remote, such as `origin/main`. */
  remote: string;
  /** The file of followed feeds, from the root of the site, if it has changes that are not committed; `null` otherwise. */
  follow: string | null;
}

export interface Publishable {
  /** Absolute. */
  files: readonly string[];
  message: string;
}

interface GitCommand {
  args: readonly string[];
  shown: string;
}

const MAX_SUBJECT = 60;
const MAX_EARLIER = 20;
const DELETION_MESSAGE = "Delete a post";
const FOLLOW_MESSAGE = "Feeds that I follow";

export function whyFollow(file: string): string {
  return `${file} has changes that are not committed. Without them, a build elsewhere, such as that of your deploy, does not know the feeds that you have followed since, and a mention such as @bob notifies no one.`;
}

/**
 * What to publish for a note: its file, and the pictures beside it that it shows.
 *
 * @param file - absolute
 * @throws TwtxtError `bad-file`
 */
export async function publishableNote(file: string): Promise<Publishable> {
  const { data, content } = readPost((await readText(file)) ?? "");
  const named = commitMessage(typeof data.title === "string" ? data.title : content);
  const message = data.twt === "deleted" ? DELETION_MESSAGE : named;
  return { files: [file, ...(await picturesBeside(file, content))], message };
}

/**
 * Finds the commands that publish these files, and checks that git can run them. Changes nothing.
 *
 * @param hasFollow - whether the file of followed feeds is published, too, if it has changed
 * @throws TwtxtError `not-published` with what to do first; also if everything is published already
 */
export async function planPublication(
  { files, message }: Publishable,
  { hasFollow, site, machine }: { hasFollow: boolean; site: Site; machine: Machine },
): Promise<Publication> {
  const root = site.file(".");
  const git = openGit(root, machine);
  const paths = files.map((file) => relative(root, file).replaceAll("\\", "/"));
  const { isDetached, changed } = await readStatus(git, root, paths);
  await checkRepository(git, isDetached);
  const remote = await remoteBranch(git);
  const log = await git(["log", "--format=%s", `--max-count=${MAX_EARLIER}`, "@{push}..HEAD"]);
  const earlier = log.stdout === "" ? [] : log.stdout.split("\n");
  const follow = await changedFollowFile(git, site);
  const committed = [...(changed.length === 0 ? [] : paths), ...(hasFollow && follow !== null ? [follow] : [])];
  if (committed.length === 0 && earlier.length === 0) {
    throw refusal(
      `${paths.join(", ")}: no changes since the last commit, and nothing to push. It is published already.`,
    );
  }
  const change = [
    ["add", "--", ...committed],
    ["commit", "--only", "-m", changed.length === 0 ? FOLLOW_MESSAGE : message, "--", ...committed],
  ];
  const commands = [...(committed.length === 0 ? [] : change), ["push"]];
  return {
    commands: commands.map((args) => ({ args, shown: ["git", ...args].map(shellQuoted).join(" ") })),
    earlier,
    remote,
    follow,
  };
}

/**
 * Runs the commands one after the other. The author has confirmed them.
 *
 * @param onCommand - called before each command
 * @throws TwtxtError `not-published` after the first command that fails, with what to do
 */
export async function publish(
  { commands, remote }: Publication,
  { site, machine, onCommand, ...run }: { site: Site; machine: Machine; onCommand(command: GitCommand): void } & GitRun,
): Promise<void> {
  const git = openGit(site.file("."), machine);
  for (const command of commands) {
    onCommand(command);
    const { exitCode, output } = await git(command.args, run);
    if (exitCode !== 0) throw refusal(describeFailure(command.args[0] ?? "", output, remote));
  }
}

/** What happens after a push: how the post gets online, and how its mentions are sent. */
export function afterPush({ settings: { host } }: Pick<Site, "settings">): string {
  switch (host) {
    case "netlify":
      return "It is online as soon as Netlify has built and deployed the site, which then sends the mentions of the post.";
    case "node":
      return "It is online as soon as your site is built with it. Then eleventy-twtxt serve sends the mentions of the post.";
    case "static":
      return "It is online as soon as your host has built and deployed the site. Then send the mentions of the post: npx eleventy-twtxt send";
  }
}

/**
 * The message of a commit for a note: the start of its text.
 *
 * @example commitMessage("Hello from *my* site.\nMore.") // "Hello from *my* site."
 */
export function commitMessage(text: string): string {
  const [line = ""] = text.trim().split(/\s*\n/, 1);
  const short = line
    .replace(/@<([^\s<>]+) [^<>]*>/g, "@$1")
    .replace(/!\[([^\][]*)\]\([^\s()]*\)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
  if (short === "") return "New note";
  return short.length <= MAX_SUBJECT ? short : `${short.slice(0, MAX_SUBJECT).replace(/ \S*$/, "")}…`;
}

/** Whether no branch is checked out, and the changes of files, each as two letters, a space and a path. */
async function readStatus(git: Git, root: string, paths: readonly string[]) {
  const options = ["--branch", "-z", "--ignored", "--untracked-files=all"];
  const { exitCode, output, stdout } = await git(["status", "--porcelain", ...options, "--", ...paths]);
  if (exitCode !== 0) throw refusal(whyNoRepository(output, root));
  const [branch, ...changed] = stdout.split("\0").filter(Boolean);
  const ignored = changed.filter((entry) => entry.startsWith("!! ")).map((entry) => entry.slice(3));
  if (ignored.length > 0) {
    throw refusal(`git ignores ${ignored.join(", ")}. Remove the line from .gitignore, then try again.`);
  }
  return { isDetached: branch === "## HEAD (no branch)", changed };
}

async function checkRepository(git: Git, isDetached: boolean): Promise<void> {
  const operations = isDetached ? DETACHED : ON_A_BRANCH;
  const toHead = (operation: string) => `${operation.toUpperCase().replace("-", "_")}_HEAD`;
  const { stdout } = await git(["log", "--no-walk", "--ignore-missing", "--format=%S", ...operations.map(toHead)]);
  const unfinished = operations.find((operation) => stdout.split("\n").includes(toHead(operation)));
  if (unfinished !== undefined) {
    throw refusal(
      `A ${unfinished} is not finished. Finish it with git ${unfinished} --continue, or undo it with git ${unfinished} --abort, then try again.`,
    );
  }
  if (isDetached) {
    throw refusal(
      "No branch is checked out (detached HEAD), so the commit would be on none. Choose one first: git switch main",
    );
  }
  const author = await git(["var", "GIT_AUTHOR_IDENT"]);
  if (author.exitCode !== 0) {
    throw refusal(
      'git does not know your name for commits. Tell it once: git config --global user.name "Alice", and git config --global user.email alice@alice.example',
    );
  }
}

/** Operations that a commit would disturb. References such as `MERGE_HEAD` show that they are under way. */
const ON_A_BRANCH = ["merge", "cherry-pick", "revert"];
const DETACHED = ["rebase"];

function whyNoRepository(output: string, root: string): string {
  if (/not a git repository/i.test(output)) {
    return `${root} is not in a git repository. Publish the way you deploy your site.`;
  }
  if (!output.includes("dubious ownership")) return gitSays(output);
  return `git does not trust the repository of ${root}, because it belongs to another user. If it is yours: git config --global --add safe.directory ${root}`;
}

/** The file of followed feeds, unless it has not changed, or git ignores it. */
async function changedFollowFile(git: Git, { settings, file }: Site): Promise<string | null> {
  const path = relative(file("."), file(settings.followed.file)).replaceAll("\\", "/");
  const { stdout } = await git(["status", "--porcelain", "--untracked-files=all", "--", path]);
  return stdout === "" ? null : path;
}

/** The branch to which git pushes, such as `origin/main`. */
async function remoteBranch(git: Git): Promise<string> {
  const push = await git(["rev-parse", "--abbrev-ref", "@{push}"]);
  if (push.exitCode === 0) return push.stdout;
  const branch = (await git(["symbolic-ref", "--short", "HEAD"])).stdout;
  const [remote = ""] = (await git(["remote"])).stdout.split("\n");
  if (remote === "") {
    throw refusal(
      `The repository has no remote to push to. Add it once: git remote add origin URL, then git push --set-upstream origin ${branch}`,
    );
  }
  throw refusal(
    `The branch ${branch} has no upstream: git does not know where to push it. Tell it once: git push --set-upstream ${remote} ${branch}`,
  );
}

/** A command waits for no lock of another one. */
const LOCKED = /Unable to create '(.+\.lock)': File exists/;

/** What to say about a remote, by what git says. */
const ADVICE: readonly (readonly [pattern: RegExp, aboutRemote: string])[] = [
  [
    /\[rejected\]|non-fast-forward|fetch first/,
    "has commits that you do not have. Get them with git pull --rebase, then publish again.",
  ],
  [
    /\[remote rejected\]|hook declined/,
    'refused the push. The lines that start with "remote:" say why. Correct it, then publish again.',
  ],
  [
    /terminal prompts disabled|could not read (?:Username|Password)|Authentication failed|Permission denied|Host key verification failed|error: 403/i,
    "does not accept your login, or git has to ask for a password. Run git push once in a terminal, and store the password with a credential helper or ssh-agent.",
  ],
  [
    /Could not resolve host|Connection (?:refused|timed out|reset)|unable to access|does not appear to be a git repository|Could not read from remote/i,
    "cannot be reached. Check your network and git remote --verbose, then publish again.",
  ],
];

function describeFailure(action: string, output: string, remote: string): string {
  const [, lock] = LOCKED.exec(output) ?? [];
  if (lock !== undefined) {
    const kept = action === "push" ? "Your commit is kept." : "Nothing was published.";
    return `Another git command is running in the repository, or one was killed. Wait until it ends; if there is none, delete ${lock}, then publish again. ${kept}`;
  }
  if (action === "push") {
    const [, advice = null] = ADVICE.find(([pattern]) => pattern.test(output)) ?? [];
    const hook = "A hook of your repository (pre-push) may refuse it. Correct it, then publish again.";
    const why = advice === null ? `git push failed; its output says why. ${hook}` : `${remote} ${advice}`;
    return `${why} Your commit is kept.`;
  }
  if (action === "commit" && !/^fatal:/m.test(output)) {
    return "git commit failed; its output says why. A hook of your repository (pre-commit or commit-msg) may refuse it. Correct it, then publish again. Nothing was published.";
  }
  return `${gitSays(output)} Nothing was published.`;
}

function gitSays(output: string): string {
  const line = output.split("\n").find((line) => /^(?:fatal|error):/.test(line)) ?? output.split("\n")[0] ?? "";
  return `git says: ${line.replace(/^(?:fatal|error): /, "").trim()}`;
}

function refusal(message: string): TwtxtError {
  return new TwtxtError("not-published", message);
}
