// test/helpers/loopback-only.mjs: for `node --import`: a process that connects to nothing but this machine.
import { refuseStrangers } from "./loopback-sockets.mjs";

refuseStrangers();
