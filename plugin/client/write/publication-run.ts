// plugin/client/write/publication-run.ts: publishes posts by git in the background, one at a time.
import { type Publication, publish } from "../../author/notes/publish.js";
import type { Site } from "../../author/site.js";
import { BackgroundRun } from "../background-run.js";
import type { ClientContext } from "../room.js";

/** A post, and the commands that publish it. */
export interface PlannedPost {
  /** From the root of the site. */
  file: string;
  /** Whether the file of followed feeds is published, too. */
  hasFollow: boolean;
  plan: Publication;
  site: Site;
}

/** The last publication. Its results are the commands and the lines of their output. */
export class PublicationRun extends BackgroundRun<string> {
  readonly #machine: ClientContext["machine"];
  /** `null` before the first one. */
  post: PlannedPost | null = null;

  constructor(context: ClientContext) {
    super(context);
    this.#machine = context.machine;
  }

  /** Resolves when it has begun, or at once while one is under way. @throws the error of `open` */
  publish(open: () => Promise<PlannedPost>): Promise<void> {
    return this.run(async () => {
      const post = await open();
      this.post = post;
      return () => this.#publish(post);
    });
  }

  /** Waits for the publication that is under way, and says how it ended, because its page cannot be read then. */
  async end(): Promise<void> {
    if (!this.isRunning || this.post === null) return;
    const { file, plan } = this.post;
    this.#machine.say(`Waiting for git, which is publishing ${file} to ${plan.remote}.`);
    await this.done;
    this.#machine.say(this.fault ?? `${file} is published to ${plan.remote}.`);
  }

  #publish({ plan, site }: PlannedPost): Promise<void> {
    return publish(plan, {
      ...{ site, machine: this.#machine },
      onCommand: ({ shown }) => void this.results.push(`$ ${shown}`),
      onOutput: (line) => void this.results.push(line),
    });
  }
}
