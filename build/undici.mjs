// build/undici.mjs: the part of undici that the functions use, instead of its main file.
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Client from "undici/lib/dispatcher/client.js";

export { Agent, buildConnector, Client };
