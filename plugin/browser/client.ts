// plugin/browser/client.ts: the script of `eleventy-twtxt client`. All pages work without it.
import { saveWhileTyping } from "./client-drafts.js";
import { enhanceFiles } from "./client-files.js";
import { listenForKeys } from "./client-keys.js";
import { keepCurrent } from "./client-live.js";
import { completeNicks } from "./client-nicks.js";
import { announceNotice } from "./client-notice.js";
import { takePictures } from "./client-pictures.js";
import { showPicturesInPlace } from "./client-show-picture.js";

announceNotice();
listenForKeys();
keepCurrent();
showPicturesInPlace();
saveWhileTyping();
takePictures();
completeNicks();
enhanceFiles();
