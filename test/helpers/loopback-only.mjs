// test/helpers/loopback-only.mjs: for `node --import`: a process that connects to nothing but this machine.
import net from "node:net";

const connect = net.Socket.prototype.connect;
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Refuses before anything is sent, and asks no server for the address of a name. */
net.Socket.prototype.connect = function (...args) {
  const options = Object(Array.isArray(args[0]) ? args[0][0] : args[0]);
  if (options.path === undefined && options.port !== undefined) {
    const host = options.host ?? "localhost";
    if (net.isIP(host) !== 0 && !LOOPBACK.test(host))
      throw new Error(`This test would have left the machine for ${host}.`);
    options.lookup = lookup;
  }
  return connect.apply(this, args);
};

/** Knows one name. */
function lookup(name, options, callback) {
  if (name !== "localhost") {
    callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" }));
    return;
  }
  const address = "127.0.0.1";
  if (options.all) callback(null, [{ address, family: 4 }]);
  else callback(null, address, 4);
}
