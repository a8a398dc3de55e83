import { expect, test } from "vitest";
import { requestLimits, TokenWebhook } from "../../src/authentication/token-webhook.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { bearer } from "./support.ts";

test("a token above the limit of waiting tokens is refused at once, with the time of a retry", async () => {
  const refusals: string[] = [];
  const method = new TokenWebhook({
    ask: () => new Promise(() => undefined),
    apiVersion: "authentication.platform.io/v1",
    ownAudiences: ["api"],
    cacheMs: 0,
    clock: new ManualClock(),
    failed: () => undefined,
    refused: (_error, address) => void refusals.push(address),
    cacheWatcher: undefined,
  });
  const { runningPerSource, waitingPerSource } = requestLimits;
  for (let count = 0; count < runningPerSource + waitingPerSource; count++)
    Promise.resolve(method.authenticate(bearer(`t${count}`))).catch(() => undefined);
  await expect(method.authenticate(bearer("more"))).rejects.toMatchObject({
    code: 429,
    message: "too many requests to the token webhook; please try again",
    details: { retryAfterSeconds: 1 },
  });
  expect(refusals).toEqual([bearer("more").remoteAddress]);
});
