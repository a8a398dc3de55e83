import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { SessionTokens } from "../../src/authentication/console/session-tokens.ts";
import type { Credentials } from "../../src/authentication/authenticator.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { ManualClock } from "../support/manual-clock.ts";

const user = { name: "ana", uid: "1", groups: ["team-a"], extra: {} };
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

function sessions() {
  const clock = new ManualClock();
  const tokens = new SessionTokens(privateKey, clock, platform);
  const ask = (token: string, audiences?: readonly string[]) =>
    tokens.authenticate({ authorization: `Bearer ${token}`, audiences } as Credentials);
  return { clock, tokens, ask };
}

test("the token of a session is its user's", () => {
  const { tokens, ask } = sessions();
  const result = ask(tokens.issue(user).token);
  expect(result).toMatchObject({ method: "console", user: { name: "ana", groups: ["team-a"] } });
  expect(tokens.isSession(result!.user)).toBe(true);
});

test("the token of a session isn't valid for a review that names audiences", () => {
  const { tokens, ask } = sessions();
  const { token } = tokens.issue(user);
  expect(ask(token, ["mine"])).toBeUndefined();
  expect(ask(token, [])).toBeUndefined();
});

test("a changed token and one of an ended session are refused", () => {
  const { clock, tokens, ask } = sessions();
  const { token, expires } = tokens.issue(user);
  expect(() => ask(`${token}x`)).toThrow("the token of the console is invalid");
  clock.advanceAtOnce(expires - clock.now());
  expect(() => ask(token)).toThrow("the session of the console has expired");
});
