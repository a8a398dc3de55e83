import { describe, expect, test } from "vitest";
import { createAuthority } from "../../src/base/certificates/serving-certificates.ts";
import { sharedAuthority } from "../../src/server/certificates/serving.ts";
import type { SharedValues } from "../../src/storage/shared-values.ts";
import { ManualClock } from "../support/manual-clock.ts";

const dayMs = 24 * 3_600_000;
const [one, other] = [createAuthority(new ManualClock()), createAuthority(new ManualClock())];
const pairOf = ({ certificate, key }: typeof one) => ({ certificate, key });

/** The shared values of a store that has only the value of the authority. */
function valuesWith(stored: string | undefined) {
  const values = { stored };
  const shared: SharedValues = {
    async get() {
      return values.stored === undefined ? undefined : Buffer.from(values.stored);
    },
    async replace(_name, before, value) {
      if (before?.toString() === values.stored) values.stored = value.toString();
      return Buffer.from(values.stored!);
    },
  };
  return { shared, values };
}

describe("the authority that servers of a store share", () => {
  test("is that of the first server, which keeps the one it had for itself", async () => {
    const { shared, values } = valuesWith(undefined);
    const clock = new ManualClock();
    expect(await sharedAuthority(shared, one, clock)).toEqual(pairOf(one));
    expect(JSON.parse(values.stored!)).toEqual(pairOf(one));
    expect(await sharedAuthority(shared, other, clock)).toEqual(pairOf(one));
    expect(await sharedAuthority(shared, undefined, clock)).toEqual(pairOf(one));
  });

  test("is created when there is none, also instead of one that soon ends", async () => {
    const clock = new ManualClock();
    const { certificate } = await sharedAuthority(valuesWith(undefined).shared, undefined, clock);
    expect(certificate).toContain("BEGIN CERTIFICATE");
    await clock.advance(3640 * dayMs);
    const { shared, values } = valuesWith(undefined);
    const next = await sharedAuthority(shared, one, clock);
    expect(next.certificate).not.toBe(one.certificate);
    expect(JSON.parse(values.stored!)).toEqual(next);
    const ending = valuesWith(JSON.stringify(pairOf(one)));
    expect(await sharedAuthority(ending.shared, next, clock)).not.toEqual(next);
  });

  test.each([
    ["no JSON", "nothing", "certificate and key must be text"],
    ["without certificate", JSON.stringify({ key: one.key }), "certificate and key must be text"],
    ["without key", JSON.stringify({ certificate: one.certificate }), "certificate and key must be text"],
    ["with the key of another", JSON.stringify({ ...pairOf(one), key: other.key }), "authority's key"],
  ])("is refused, and not replaced, when the stored value is %s", async (_what, stored, message) => {
    const { shared, values } = valuesWith(stored);
    await expect(sharedAuthority(shared, one, new ManualClock())).rejects.toThrow(message);
    expect(values.stored).toBe(stored);
  });
});
