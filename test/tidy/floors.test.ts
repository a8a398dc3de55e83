import { expect, test } from "vitest";
import { importsOf, sources } from "./source-files.ts";

/** The rooms by floor (docs/architecture.md): a room imports from floors below it and from itself. */
const floors: readonly (readonly string[])[] = [
  ["base", "vocabulary"],
  ["schema", "storage", "remote"],
  ["fields", "cel"],
  ["kinds"],
  ["resources"],
  ["custom-resources"],
  ["aggregation", "authentication", "authorization", "flow"],
  ["admission"],
  ["controllers", "http"],
  ["server"],
  ["cli"],
];

const floorOf = new Map(floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));

function roomOf(file: string): string {
  return file.split("/")[1]!;
}

test("every folder under src/ is a room with a floor", () => {
  const rooms = new Set(sources.filter((file) => file.split("/").length > 2).map(roomOf));
  expect([...rooms].filter((room) => !floorOf.has(room))).toEqual([]);
});

test("rooms import downwards only", () => {
  const wrong = sources
    .filter((file) => file !== "src/index.ts")
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => {
          const [from, to] = [roomOf(file), roomOf(target)];
          return from !== to && floorOf.get(to)! >= floorOf.get(from)!;
        })
        .map((target) => `${file} imports ${target}`),
    );
  expect(wrong).toEqual([]);
});

test("an import names a file that exists", () => {
  const known = new Set(sources);
  const wrong = sources.flatMap((file) =>
    importsOf(file)
      .filter((target) => !known.has(target))
      .map((target) => `${file}: ${target}`),
  );
  expect(wrong).toEqual([]);
});
