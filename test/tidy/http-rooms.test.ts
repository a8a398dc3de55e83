import { expect, test } from "vitest";
import { importsOf, sources } from "./source-files.ts";

/**
 * The rooms of src/http/ from the ground up (docs/architecture.md): a room imports from those before it and from itself. A
 * file of its own is a room too.
 */
const order = [
  "transport",
  "request",
  "metrics",
  "audit",
  "limits",
  "encodings",
  "answers",
  "backends",
  "service.ts",
  "connect",
  "documents",
  "verbs",
  "stages",
  "pipeline.ts",
];

const inHttp = sources.filter((file) => file.startsWith("src/http/"));
const roomOf = (file: string) => file.split("/")[2]!;

test("every folder and loose file of src/http/ is a room", () => {
  expect([...new Set(inHttp.map(roomOf))].filter((room) => !order.includes(room))).toEqual([]);
});

test("rooms of src/http/ import from those before them", () => {
  const wrong = inHttp.flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith("src/http/"))
      .filter((target) => order.indexOf(roomOf(target)) > order.indexOf(roomOf(file)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});
