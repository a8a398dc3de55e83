import { expect, test } from "vitest";
import { decodeStamp } from "../../src/storage/stamp.ts";
import { StoreDamagedError } from "../../src/storage/store.ts";

test.each([
  "",
  "null",
  "1",
  "[]",
  "{",
  '{"label":"a"}',
  '{"label":1,"format":1}',
  '{"label":"a","format":1.5}',
])("a damaged stamp is reported as such (%j)", (text) =>
  expect(() => decodeStamp(Buffer.from(text))).toThrow(StoreDamagedError),
);
