import { expect, test } from "vitest";
import { similarName } from "../../src/base/similar-name.ts";

const names = ["serve", "backup", "restore", "check", "compact", "convert", "secure-port", "bind-address"];

test.each([
  ["sevre", "serve"],
  ["server", "serve"],
  ["chek", "check"],
  ["Backup", "backup"],
  ["securePort", "secure-port"],
  ["secure_prot", "secure-port"],
  ["bind-addres", "bind-address"],
  ["convrt", "convert"],
])("%s is similar to %s", (wrong, right) => {
  expect(similarName(wrong, names)).toBe(right);
});

test.each(["", "get", "x", "authorization", "serve".repeat(20)])("nothing is similar to %j", (wrong) => {
  expect(similarName(wrong, names)).toBeUndefined();
});
