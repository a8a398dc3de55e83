import { expect, test } from "vitest";
import { judge } from "../judge/judge.ts";
import { recordLocally } from "./local-run.ts";

test("the judge reports nothing in a history of sound servers", async () => {
  const history = await recordLocally({ seed: 1, requests: 400 });
  expect(judge(history)).toEqual([]);
});
