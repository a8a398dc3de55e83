import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAddress } from "../../src/base/network/ip-address.ts";

describe("whether a text is an IP address", () => {
  it.each(["127.0.0.1", "::1", "::", "2001:db8::ff:1", "::ffff:1.2.3.4", "fe80::1%eth0"])("%s is", (text) => {
    expect(isAddress(text)).toBe(true);
  });

  it.each(["", "localhost", "1.2.3", "1.2.3.256", ":::", "1::2::3", "12345::", "::1]", "[::1]", "fe80::1%"])(
    "%j isn't",
    (text) => {
      expect(isAddress(text)).toBe(false);
    },
  );

  it("says the same as Node, of texts that are almost addresses", () => {
    const piece = fc.constantFrom(
      "0",
      "1",
      "db8",
      "ffff",
      "12345",
      ":",
      "::",
      ".",
      "1.2.3.4",
      "%",
      "eth0",
      "g",
      "]",
      " ",
    );
    const texts = fc.array(piece, { maxLength: 16 }).map((pieces) => pieces.join(""));
    const groups = fc.array(fc.constantFrom("0", "a1", "ffff", ""), { minLength: 2, maxLength: 9 });
    const almost = fc.oneof(
      texts,
      groups.map((some) => some.join(":")),
      fc.ipV6(),
      fc.ipV4Extended(),
    );
    fc.assert(
      fc.property(almost, (text) => isAddress(text) === (isIP(text) !== 0)),
      { numRuns: 5000 },
    );
  });
});
