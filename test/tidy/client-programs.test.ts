import { expect, test } from "vitest";
import { programs, rowsOf } from "../clients/programs/programs.mjs";
import { read } from "./source-files.ts";

test("docs/clients.md has the version, release and passed checks of every program over a client library", () => {
  const rows = rowsOf(read("docs/clients.md"));
  expect([...rows.keys()]).toEqual(programs.map(({ clients }) => clients));
  for (const { clients, release, does } of programs) {
    expect(rows.get(clients)).toEqual([release, does, expect.stringMatching(/^\d+ checks? pass(es)?$/)]);
  }
});
