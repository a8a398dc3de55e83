import { readFileSync, writeFileSync } from "node:fs";
import type { Outcomes } from "./run.ts";

const file = new URL("outcomes.jsonl", import.meta.url);

/** Reads the recorded outcomes of the reference, by the name of the case. */
export function readOutcomes(): ReadonlyMap<string, Outcomes> {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return new Map(lines.map((line) => JSON.parse(line) as [string, Outcomes]));
}

export function writeOutcomes(outcomes: ReadonlyMap<string, Outcomes>): void {
  writeFileSync(file, [...outcomes].map((entry) => `${JSON.stringify(entry)}\n`).join(""));
}
