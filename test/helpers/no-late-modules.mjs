// test/helpers/no-late-modules.mjs: for `node --import`: a process that listens on a port can load no further files of modules.
import Module, { register } from "node:module";
import { Server } from "node:net";

const isListening = new Int32Array(new SharedArrayBuffer(4));

/** Hooks for ES modules, which run in another thread. */
const hooks = `
let isListening;
export function initialize(data) {
  isListening = data.isListening;
}
export function load(url, context, nextLoad) {
  if (url.startsWith("file:") && Atomics.load(isListening, 0) === 1) throw new Error("Late module: " + url);
  return nextLoad(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: { isListening } });

const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  Atomics.store(isListening, 0, 1);
  return listen.apply(this, args);
};

for (const [extension, load] of Object.entries(Module._extensions)) {
  Module._extensions[extension] = function (module, file) {
    if (isListening[0] === 1) throw new Error(`Late module: ${file}`);
    return load.call(this, module, file);
  };
}
