// test/helpers/loopback-only.mjs: for `node --import`: lets a process connect only to this machine.
import { refuseStrangers } from "./loopback-sockets.mjs";

refuseStrangers();
