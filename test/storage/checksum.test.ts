import { expect, it } from "vitest";
import { checksumOf, checksumOfText, tableChecksumOf } from "../../src/storage/lmdb/checksum.ts";

it("the checksum of the table equals that of zlib, for bytes, texts and their continuation", () => {
  // The check value of CRC-32.
  expect(tableChecksumOf(Buffer.from("123456789"))).toBe(0xcbf43926);
  for (const text of ["", "/g/r/n/k", "/g/r/n/\u00fc\u{1f600}", "x".repeat(5000)]) {
    const bytes = Buffer.from(text);
    for (const start of [0, 1, 0xffff_ffff]) {
      expect(tableChecksumOf(bytes, start)).toBe(checksumOf(bytes, start));
      expect(checksumOfText(text, start)).toBe(checksumOf(bytes, start));
    }
  }
});
