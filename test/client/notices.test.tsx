import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { Outcome } from "../../plugin/author/outcome.js";
import type { ClientEnv } from "../../plugin/client/client-request.js";
import type { CreateRoom } from "../../plugin/client/notices.js";
import { Form } from "../../plugin/client/page-parts.js";
import { startedClient } from "./client.js";
import { shownText, visitorOf } from "./visitor.js";

/** A room with a switch. */
async function switchRoom() {
  let isOn = false;
  const turn = async (): Promise<Outcome> => {
    isOn = !isOn;
    return { text: isOn ? "Turned on." : "Turned off.", undo: turn };
  };
  const room: CreateRoom = ({ notices }) => {
    const routes = new Hono<ClientEnv>();
    routes.get("/", (c) => c.render(<Form action="/switch" />, { title: "Switch" }));
    notices.addForm(routes, "/", "/switch", turn);
    return { title: "Switch", path: "/switch", icon: "M5 5h14", keys: [], routes };
  };
  return visitorOf(await startedClient({ rooms: [room] }), "/switch");
}

describe("the result of an action", () => {
  it("is undone by the button Undo, again and again, on the same page", async () => {
    const visitor = await switchRoom();
    const on = await visitor.submit("/switch");
    expect(shownText(on.text)).toContain("Turned on.");
    const off = await visitor.undo(on);
    expect(shownText(off.text)).toMatch(/^Switch .*Turned off\./);
    expect(shownText((await visitor.undo(off)).text)).toContain("Turned on.");
  });

  it("404: the notice is not that of an action", async () => {
    const visitor = await switchRoom();
    for (const notice of ["", "made-up", "__proto__"]) {
      expect((await visitor.post("/undo", { notice })).status).toBe(404);
    }
  });
});
