import { expect, test } from "vitest";
import { FairTurns } from "../../src/flow/fair-turns.ts";
import { LargeRequests } from "../../src/flow/large-requests.ts";
import { paceOf } from "../../src/http/limits/paced-request.ts";
import { newRequest } from "../../src/http/request/context.ts";
import type { HttpExchange } from "../../src/http/transport/http-exchange.ts";
import { ManualClock } from "../support/manual-clock.ts";

/** What the pace of a request reads of its exchange. */
const exchange = { onClose: () => undefined } as unknown as HttpExchange;

function fixture() {
  const largeRequests = new LargeRequests();
  const parts = {
    clock: new ManualClock(),
    limits: { enter: () => undefined },
    turns: new FairTurns(),
    largeRequests,
  };
  const request = { ...newRequest(exchange, 0), user: { name: "eve", uid: "", groups: [], extra: {} } };
  return { pace: paceOf(parts, request), request, parts };
}

test("a small body or object has no pace", () => {
  const { pace } = fixture();
  expect([pace.decodes(Buffer.alloc(1000, "a")), pace.step(), pace.isLarge]).toEqual([
    undefined,
    undefined,
    false,
  ]);
});

test("further attempts of a write don't add to the memory of the first", async () => {
  const { pace, request, parts } = fixture();
  expect(paceOf(parts, request)).toBe(pace);
  // 1 MiB with 20,000 values is estimated at 28 MB: two fit the limit of a user together.
  const large = Buffer.alloc(1024 * 1024, "a");
  large.fill(",", 0, 20_000);
  for (let attempt = 0; attempt < 10; attempt++) await pace.decodes(large);
  expect(pace.isLarge).toBe(true);
  // Another user's large request fits the server beside it.
  const other = parts.largeRequests.request("bob", exchange);
  expect(other.take(190 * 1024 * 1024)).toBeUndefined();
  pace.end();
  expect(parts.largeRequests.request("eve", exchange).take(48 * 1024 * 1024)).toBeUndefined();
});

test("the values of a body in CBOR count, which has no separators", async () => {
  const { pace, parts } = fixture();
  await pace.decodes(Buffer.concat([Buffer.of(0x9f), Buffer.alloc(40_000, 0x01), Buffer.of(0xff)]));
  // 40,000 values are estimated at 40 MB, so another of 10 MB exceeds the limit of the user.
  const next = parts.largeRequests.request("eve", exchange).take(10 * 1024 * 1024);
  expect(next).toBeInstanceOf(Promise);
  pace.end();
  await next;
});
