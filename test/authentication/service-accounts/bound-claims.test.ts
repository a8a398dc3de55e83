import { describe, expect, test } from "vitest";
import type { Identity, LiveObjects } from "../../../src/authentication/live-objects.ts";
import { BoundTokens, boundClaims } from "../../../src/authentication/service-accounts/bound-claims.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { ManualClock } from "../../api/support.ts";

const account = { name: "builder", uid: "u1" };

/** Validates a token of the account at a time, and returns the reported uses. */
async function usesOf(warnAfter: number | undefined, atSeconds: number, identity: Partial<Identity> = {}) {
  const clock = new ManualClock();
  await clock.advance(atSeconds * 1000 - clock.now());
  const live = { identity: () => ({ uid: account.uid, ...identity }) } as unknown as LiveObjects;
  const uses: string[] = [];
  const features = { ids: false, podNodes: false, nodes: false };
  const tokens = new BoundTokens(platform, live, clock, (use) => void uses.push(use), features);
  const facts = {
    namespace: "ci",
    account,
    audiences: ["a"],
    issuedAt: 2_000_000_000,
    expiresAt: 2_000_010_000,
  };
  const claims = boundClaims(platform, "https://issuer.example", {
    ...facts,
    boundTo: undefined,
    warnAfter,
  } as never);
  const user = await tokens.validatorFor(claims)();
  expect(user.name).toBe("system:serviceaccount:ci:builder");
  return uses;
}

describe("the use of a token", () => {
  test.each([
    [2_000_003_600, 2_000_003_600, ["valid"]],
    [2_000_003_600, 2_000_003_601, ["stale"]],
    [undefined, 2_000_003_601, []],
    [0, 2_000_003_601, []],
  ])("with warnafter %j at %d is reported as %j", async (warnAfter, at, uses) => {
    expect(await usesOf(warnAfter, at)).toEqual(uses);
  });

  test("is accepted for a minute after its account began to be deleted", async () => {
    const deletionTimeMs = 2_000_000_100_000;
    expect(await usesOf(undefined, 2_000_000_160, { deletionTimeMs })).toEqual([]);
    await expect(usesOf(undefined, 2_000_000_161, { deletionTimeMs })).rejects.toThrow("has been deleted");
  });
});
