import { expect, test } from "vitest";
import { parseAccept } from "../../src/http/request/negotiation.ts";

test.each([
  ["application/json", [["application/json", 1]]],
  [
    "text/html, application/json;q=0.5",
    [
      ["text/html", 1],
      ["application/json", 0.5],
    ],
  ],
  ["*/*;q=0", [["*/*", 0]]],
  ["Application/JSON ; q=0.1 ", [["application/json", 0.1]]],
  ["a/b;q=x", [["a/b", 0]]],
  [",, ,", []],
] as const)("Accept: %s", (header, expected) => {
  expect(parseAccept(header).map(({ type, quality }) => [type, quality])).toEqual(expected);
});

test("parameters are kept", () => {
  expect(parseAccept("application/json;as=Table;v=v1;g=meta.platform.io")[0]!.parameters).toEqual({
    as: "Table",
    v: "v1",
    g: "meta.platform.io",
  });
});

test("ranges after the 256th are ignored, so that the cost of a header is bounded", () => {
  expect(parseAccept(`${"text/plain,".repeat(255)}text/html,application/json`).at(-1)!.type).toBe(
    "text/html",
  );
  expect(parseAccept("a/b,".repeat(8_000))).toHaveLength(256);
});

test("parameters of a range after the 15th are ignored", () => {
  const [range] = parseAccept(`a/b${Array.from({ length: 8_000 }, (_, i) => `;p${String(i)}=1`).join("")}`);
  expect(Object.keys(range!.parameters)).toHaveLength(15);
});
