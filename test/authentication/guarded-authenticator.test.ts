import { expect, test } from "vitest";
import { guardedAuthenticator } from "../../src/authentication/guarded-authenticator.ts";
import type { AuthenticationResult } from "../../src/authentication/authenticator.ts";
import { ManualClock } from "../api/support.ts";

/** What becomes of an answer, and what is logged. */
async function outcomeOf(answer: unknown): Promise<{ result: unknown; logged: string[] }> {
  const logged: string[] = [];
  const guard = {
    clock: new ManualClock(),
    failed: (extension: string, error: unknown) => void logged.push(`${extension}: ${String(error)}`),
  };
  const authenticator = { name: "own", authenticate: () => answer as AuthenticationResult };
  try {
    return { result: await guardedAuthenticator(authenticator, guard).authenticate({} as never), logged };
  } catch (error) {
    return { result: (error as { reason?: string }).reason, logged };
  }
}

const user = { name: "joe", groups: ["devs"] };

test.each<readonly [what: string, answer: unknown, why: string]>([
  ["a text", "joe", "must return an object or undefined, not a string"],
  [
    "audiences that are one text",
    { user, audiences: "a" },
    "audiences in the result of authenticate must be an array of strings",
  ],
  [
    "audiences that aren't texts",
    { user, audiences: ["a", 7] },
    "audiences in the result of authenticate must be an array of strings",
  ],
  ["no user", {}, ""],
  ["a user without a name", { user: { groups: [] } }, ""],
])("%s is a refusal of the credentials, and is logged", async (_what, answer, why) => {
  const { result, logged } = await outcomeOf(answer);
  expect(result).toBe("Unauthorized");
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(/^authenticator "own": /);
  expect(logged[0]).toContain(why);
});

test("an answer in the form of the contract is taken, with its audiences", async () => {
  const { result, logged } = await outcomeOf({ user, audiences: ["a", "b"] });
  expect(result).toMatchObject({
    user: { name: "joe", groups: ["devs"] },
    method: "own",
    audiences: ["a", "b"],
  });
  expect(logged).toEqual([]);
  expect(await outcomeOf(undefined)).toEqual({ result: undefined, logged: [] });
});
