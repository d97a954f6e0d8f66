// plugin/client/write/write-room.tsx: the room to write in: drafts, the twt of a note, its post file, publishing by git, and the author's posts.
import { Hono } from "hono";
import type { FC } from "hono/jsx";
import { changePost, deletePost, listPosts, type OwnPost, readOwnPost } from "../../author/notes/own-posts.js";
import type { Site } from "../../author/site.js";
import { ifTwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { BackgroundRun } from "../background-run.js";
import { type ClientEnv, type ClientRequest, readForm } from "../client-request.js";
import type { ClientContext, CreateRoom } from "../notices.js";
import {
  Answers,
  Fault,
  Field,
  Fields,
  Form,
  LinkButton,
  type OtherPages,
  PageLinks,
  Question,
  selectPage,
  Time,
} from "../page-parts.js";
import { pictureFile, saveDraft, shareAndSave, sharePage, writePage } from "./composer-handlers.js";
import { assetResponse, builtPage, type SiteBuildRun } from "./on-your-site.js";
import { MAX_UPLOAD_BYTES } from "./picture-fields.js";
import { endPublication, type PublicationRun, publicationPage, publishPage, runPublication } from "./publication.js";
import { openDrafts, POSTS_PATH, publishPath, WRITE_PATH } from "./write-requests.js";

const ICON = "M5 19l1-4.5L15.5 5l3.5 3.5L9.5 18zM13 7.5l3.5 3.5";

export const writeRoom: CreateRoom = (context) => {
  const routes = new Hono<ClientEnv>();
  const publication: PublicationRun = new BackgroundRun(context);
  const build: SiteBuildRun = new BackgroundRun(context);
  routes.get("/", (c) => writePage(c, { context, build }));
  routes.post("/draft", (c) => saveDraft(c, { context, build }));
  routes.get("/page", (c) => builtPage(c, build, context));
  // The path of a parameter is decoded as far as it can be.
  routes.get("/site/:path{.+}", async (c) => assetResponse(c.req.param("path"), (await openDrafts(context)).site));
  context.notices.addForm(routes, "/delete", WRITE_PATH, async ({ id = "" }) => {
    await (await openDrafts(context)).drafts.delete(id);
    return { text: "The draft is deleted." };
  });
  routes.get("/picture/:draft/:name", (c) => pictureFile(c, context));
  routes.get("/share", (c) => sharePage(c, context));
  routes.post("/share", (c) => shareAndSave(c, context));
  addOwnPosts(routes, context);
  routes.get("/publish", (c) => publishPage(c, context));
  routes.post("/publish", (c) => runPublication(c, publication, context));
  routes.get("/publication", (c) => publicationPage(c, publication));
  const keys = [
    { key: "n", does: "goes to the text" },
    { key: "e", does: "edits the post" },
    { key: "d", does: "deletes the post, after a question" },
  ];
  return {
    ...{ title: "Write", path: WRITE_PATH, icon: ICON, keys, maxBodyBytes: MAX_UPLOAD_BYTES + 2 ** 20, routes },
    end: () => endPublication(publication, context),
  };
};

const PER_PAGE = 50;
const SHOWN_LENGTH = 80;

function addOwnPosts(routes: Hono<ClientEnv>, context: ClientContext): void {
  const { openSite } = context;
  routes.get("/posts", async (c) => {
    const { items, pages } = selectPage(c, await listPosts(await openSite()), PER_PAGE);
    return c.render(<PostsPage posts={items} pages={pages} />, { title: "Your posts" });
  });
  routes.get("/posts/edit", async (c) => {
    const post = await readOwnPost(c.req.query("file") ?? "", await openSite());
    return c.render(<EditPage post={post} fault={null} />, { title: "Edit a post" });
  });
  routes.post("/posts/edit", async (c) => savePost(c, await openSite(), context));
  routes.get("/posts/delete", async (c) => {
    const post = await readOwnPost(c.req.query("file") ?? "", await openSite());
    return c.render(<DeletePage post={post} />, { title: "Delete this post?" });
  });
  routes.post("/posts/delete", async (c) => {
    const { file = "", version = "" } = await readForm(c);
    const remove = async () => {
      await deletePost({ file, version }, await openSite());
      return { text: `Deleted here: ${file}. Publish it to delete it online.` };
    };
    return context.notices.act(c, publishPath(file), remove, POSTS_PATH);
  });
}

/** Saves the changes of a post. If that fails, the page keeps what was typed. */
async function savePost(c: ClientRequest, site: Site, { notices }: ClientContext): Promise<Response> {
  const { file = "", version = "", title = "", body = "" } = await readForm(c);
  const changed = { file, version, title: oneLine(title).trim(), body: body.trim() };
  const fault = await changePost(changed, site).catch(ifTwtxtError(({ message }) => message));
  if (fault === undefined) return notices.redirect(c, publishPath(file), { text: `Saved: ${file}` });
  return c.render(<EditPage post={changed} fault={fault} />, { title: "Edit a post" });
}

const PostsPage: FC<{ posts: readonly OwnPost[]; pages: OtherPages }> = ({ posts, pages }) => (
  <>
    {posts.length === 0 && <p class="muted">There are no posts yet in the folders of your posts and notes.</p>}
    <ul class="items">
      {posts.map((post) => (
        <PostItem post={post} />
      ))}
    </ul>
    <PageLinks pages={pages} of="posts" />
  </>
);

const PostItem: FC<{ post: OwnPost }> = ({ post }) => (
  <li id={`post-${encodeURIComponent(post.file)}`} data-item tabindex={-1}>
    <p class="by">
      <strong dir="auto">{nameOfPost(post)}</strong>
      {post.isDeleted && <span class="state">deleted</span>}
      {post.date !== null && <Time at={post.date} />}
    </p>
    <p class="muted">{post.file}</p>
    {!post.isDeleted && (
      <div class="actions">
        <LinkButton isQuiet data-key="e" href={postPath("edit", post.file)} label="Edit" about={nameOfPost(post)} />
        <LinkButton isQuiet data-key="d" href={postPath("delete", post.file)} label="Delete" about={nameOfPost(post)} />
      </div>
    )}
  </li>
);

function postPath(action: "edit" | "delete", file: string): string {
  return `${POSTS_PATH}/${action}?file=${encodeURIComponent(file)}`;
}

function nameOfPost({ title, body, file }: OwnPost): string {
  return (title || body.split("\n")[0] || file).slice(0, SHOWN_LENGTH);
}

/** @param fault - why it was not saved; `null` before it was tried */
const EditPage: FC<{ post: Pick<OwnPost, "file" | "version" | "title" | "body">; fault: string | null }> = ({
  post: { file, version, title, body },
  fault,
}) => (
  <>
    <Fault text={fault} />
    <Form class="composer">
      <Fields fields={{ file, version }} />
      <Field name="title" label="Title" value={title} />
      <label for="body">Text, in Markdown</label>
      <textarea id="body" name="body" rows={16} data-key="n">
        {`\n${body}`}
      </textarea>
      <p class="muted">
        The rest of <code>{file}</code>, such as its date and tags, stays as it is. Those who were notified of the post
        are notified of the change once it is published.
      </p>
      <Answers yes="Save the changes" back={POSTS_PATH} />
    </Form>
  </>
);

const DeletePage: FC<{ post: OwnPost }> = ({ post }) => (
  <Question fields={{ file: post.file, version: post.version }} yes="Delete the post" back={POSTS_PATH}>
    <p>
      <strong dir="auto">{nameOfPost(post)}</strong> <span class="muted">{post.file}</span>
    </p>
    <p>
      Its text is removed from the file, which gets <code>twt: deleted</code>. Once this is published, the post leaves
      your feed and your lists, its page says that it was deleted, and those who were notified of it are told. Earlier
      versions stay in your git repository.
    </p>
  </Question>
);
