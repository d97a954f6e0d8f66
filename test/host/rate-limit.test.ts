import { describe, expect, it } from "vitest";
import { rateLimit } from "../../plugin/host/rate-limit.js";

const MINUTE = 60_000;
const BOB = "192.0.2.1";

function limited(perMinute: number) {
  const clock = { time: Date.parse("2026-11-20T09:00:00Z") };
  const limit = rateLimit({ perMinute, now: () => clock.time });
  const post = (address = BOB, { kind = "mention", method = "POST" } = {}) => limit(kind, method, address);
  return { clock, post };
}

describe("a rate limit of 3 a minute", () => {
  it("allows three, refuses the fourth with the seconds that are left, and allows again after them", () => {
    const { clock, post } = limited(3);
    expect([post(), post(), post()]).toEqual([null, null, null]);
    clock.time += 20_500;
    const refused = post();
    expect([refused?.status, refused?.headers["retry-after"]]).toEqual([429, "40"]);
    clock.time += MINUTE - 20_500 - 1;
    expect(post()?.status).toBe(429);
    clock.time += 1;
    expect(post()).toBeNull();
  });

  it("counts addresses and kinds apart, PUT with POST, and no other method", () => {
    const { post } = limited(3);
    for (let n = 0; n < 3; n += 1) post();
    expect([post("192.0.2.2"), post(BOB, { kind: "message" }), post(BOB, { method: "GET" })]).toEqual([
      null,
      null,
      null,
    ]);
    expect(post(BOB, { method: "PUT" })?.status).toBe(429);
  });

  it("begins anew when the clock is set back", () => {
    const { clock, post } = limited(3);
    for (let n = 0; n < 4; n += 1) post();
    clock.time -= 1;
    expect(post()).toBeNull();
  });
});

it("a rate limit of 0 allows everything", () => {
  const { post } = limited(0);
  expect([post(), post()]).toEqual([null, null]);
});
