import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Verdict } from "./verdict.ts";

const file = path.join(import.meta.dirname, "verdicts.jsonl");

/** The verdicts of kube-apiserver 1.26.15, by the names of the cases. */
export function readVerdicts(): ReadonlyMap<string, Verdict> {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return new Map(lines.map((line) => JSON.parse(line) as [string, Verdict]));
}

/** Writes verdicts, a line for each case. */
export function writeVerdicts(verdicts: ReadonlyMap<string, Verdict>): void {
  writeFileSync(file, [...verdicts].map((entry) => `${JSON.stringify(entry)}\n`).join(""));
}
