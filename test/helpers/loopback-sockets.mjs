// test/helpers/loopback-sockets.mjs: keeps the connections of a process on this machine.
import net from "node:net";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

const { connect } = net.Socket.prototype;
let callers = 0;

/** Refuses connections to other machines before anything is sent, and resolves names without a DNS server. */
export function refuseStrangers() {
  callers += 1;
  net.Socket.prototype.connect = connectHere;
  return () => {
    callers -= 1;
    if (callers === 0) net.Socket.prototype.connect = connect;
  };
}

function connectHere(...args) {
  const options = Object(Array.isArray(args[0]) ? args[0][0] : args[0]);
  if (options.path === undefined && options.port !== undefined) {
    const host = options.host ?? "localhost";
    if (net.isIP(host) !== 0 && !LOOPBACK.test(host))
      throw new Error(`This test tried to connect to another machine: ${host}.`);
    options.lookup = lookup;
  }
  return connect.apply(this, args);
}

/** Resolves only one name. Takes the arguments of `dns.lookup`. */
export function lookup(name, ...given) {
  const callback = given.pop();
  const address = /^localhost\.?$/.test(name) ? "127.0.0.1" : name;
  const family = net.isIP(address);
  const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" });
  const found = Object(given[0]).all ? [[{ address, family }]] : [address, family];
  process.nextTick(callback, ...(family === 0 ? [error] : [null, ...found]));
}
