import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/** Where Node is told how to verify peers, or a library makes such a context. */
const verifies = /\b(?:createSecureContext\(|rejectUnauthorized\b|createSsl\()/;

test("every TLS context that verifies peers is made with peerTrust", () => {
  const texts = sources.map((file) => ({ file, text: read(file) }));
  const verifying = texts.filter(({ text }) => verifies.test(text));
  expect(verifying.length).toBeGreaterThan(4);
  expect(
    verifying
      .filter(({ text }) => !text.includes("...peerTrust(") && !text.includes("(peerTrust("))
      .map(({ file }) => file),
  ).toEqual([]);
  expect(texts.filter(({ text }) => text.includes("createSsl(")).map(({ file }) => file)).toEqual([]);
});
