import { expect, test } from "vitest";
import { guardedAuthenticator } from "../../src/authentication/guarded-authenticator.ts";
import type { AuthenticationResult } from "../../src/authentication/authenticator.ts";
import { StatusError } from "../../src/base/status-error.ts";
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
  ["no user", {}, "the result of authenticate must have a user"],
  ["a user that is a text", { user: "joe" }, "the result of authenticate must have a user"],
  ["a user without a name", { user: { groups: [] } }, "must have a name"],
  ["a user with an empty name", { user: { name: "" } }, "must have a name"],
  ["a uid that is a number", { user: { name: "joe", uid: 7 } }, "the uid of the user must be a string"],
  [
    "groups that are one text",
    { user: { name: "joe", groups: "devs" } },
    "the groups of the user must be an array of strings",
  ],
  [
    "extra with a text",
    { user: { name: "joe", extra: { team: "a" } } },
    "extra of the user must be an object with arrays of strings",
  ],
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

test("absent parts of a user are empty", async () => {
  const { result } = await outcomeOf({ user: { name: "joe" } });
  expect(result).toMatchObject({ user: { name: "joe", uid: "", groups: [], extra: {} } });
});

test.each([
  [true, true],
  [false, false],
  [undefined, false],
  ["yes", false],
])("a result with cacheable %j is cacheable: %j", async (cacheable, expected) => {
  const { result } = await outcomeOf({ user, cacheable });
  expect(result).toMatchObject({ cacheable: expected });
});

test.each(["synchronous", "asynchronous"])(
  "a StatusError of a %s authenticator is returned, not logged",
  async (kind) => {
    const logged: string[] = [];
    const guard = { clock: new ManualClock(), failed: (extension: string) => void logged.push(extension) };
    const error = new StatusError("TooManyRequests", "later");
    const authenticate = () => {
      if (kind === "asynchronous") return Promise.reject(error);
      throw error;
    };
    const guarded = guardedAuthenticator({ name: "own", authenticate }, guard);
    await expect(async () => guarded.authenticate({} as never)).rejects.toBe(error);
    expect(logged).toEqual([]);
  },
);
