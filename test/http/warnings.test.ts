import { expect, test } from "vitest";
import { warningLines } from "../../src/http/answers/respond.ts";

const texts = (warnings: readonly string[]) => warningLines(warnings).filter((_, index) => index % 2 === 1);

test("warnings are sent whole as long as they are short together", () => {
  const long = "w".repeat(4000);
  expect(texts([long, 'a "quoted" one'])).toEqual([`299 - "${long}"`, String.raw`299 - "a \"quoted\" one"`]);
  expect(texts(["ä\n"])).toEqual(['299 - "??"']);
});

test("warnings that are too long together are cut, and the last ones left out", () => {
  const sent = texts(Array.from({ length: 30 }, (_, index) => `${index} ${"w".repeat(300)}`));
  expect(sent.slice(0, -1).map((line) => line.length)).toEqual(Array(15).fill('299 - ""'.length + 256));
  expect(sent.at(-1)).toBe('299 - "15 more warnings are left out"');
});
