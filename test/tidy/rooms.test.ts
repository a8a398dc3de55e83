import { describe, expect, test } from "vitest";
import { importsOf, sources } from "./source-files.ts";

/**
 * The rooms of large folders, lowest first (docs/architecture.md): a room imports only from earlier rooms of its folder and from
 * itself. A file directly in the folder is a room too.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  "src/resources/": [
    "registry",
    "objects",
    "releases",
    "followers",
    "pages",
    "selector-index",
    "engine",
    "services",
    "input",
    "ownership",
    "reads",
    "writes",
    "transactions",
    "undo",
    "branches",
    "actions",
    "clients",
  ],
  "src/custom-resources/": ["conversion", "definitions"],
  "src/server/": [
    "options",
    "features",
    "start",
    "tracing",
    "encryption",
    "certificates",
    "webhooks",
    "apis",
    "authentication",
    "authorization",
    "health",
    "admission",
    "audit",
    "controllers",
    "engine",
    "listening",
    "workspaces",
    "faults",
    "library",
    "server.ts",
    "explore",
    "validation",
  ],
  "src/http/": [
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
    "subscriptions",
    "transactions",
    "workspaces",
    "pipeline.ts",
  ],
};

describe.each(Object.entries(rooms))("%s", (folder, order) => {
  const files = sources.filter((file) => file.startsWith(folder));
  const roomOf = (file: string) => file.slice(folder.length).split("/")[0]!;

  test("every folder and file directly in the folder is a room, and every room exists", () => {
    expect([...new Set(files.map(roomOf))].toSorted()).toEqual(order.toSorted());
  });

  test("a room imports only from earlier rooms", () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith(folder))
        .filter((target) => order.indexOf(roomOf(target)) > order.indexOf(roomOf(file)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});
