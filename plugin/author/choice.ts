// plugin/author/choice.ts: what the author chooses when a command or the client starts. Keys are the names of options.

/** Which author. */
export interface AuthorChoice {
  /** The address of one of several authors. */
  as: string | undefined;
  /** The file with the author's key. */
  identity: string | undefined;
  /** The settings file of the site. */
  settings: string | undefined;
}

/** Which servers in the author's own network may be contacted. */
export interface HostChoice {
  /** `host:port`s */
  "allow-private-host": readonly string[];
}

/** How the author's own site is reached. */
export interface OwnSiteChoice extends AuthorChoice, HostChoice {
  /** Another URL of the site, such as that of a local server. */
  url: string | undefined;
}
