import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** What an expression results in, in an environment of the reference. */
export interface Result {
  /** Errors of the compilation with their positions. */
  readonly error?: string;
  /** Error of the evaluation. */
  readonly fault?: string;
  readonly type?: string;
  readonly value?: string;
  readonly cost?: number;
  /** Minimum and maximum of the estimated cost. */
  readonly estimate?: string;
}

const file = path.join(import.meta.dirname, "results.jsonl");

/** The results of kube-apiserver 1.37.2, by expression. */
export function readResults(): ReadonlyMap<string, Result> {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return new Map(lines.map((line) => JSON.parse(line) as [string, Result]));
}

/** Writes results, a line for each expression. */
export function writeResults(results: ReadonlyMap<string, Result>): void {
  writeFileSync(file, [...results].map((entry) => `${JSON.stringify(entry)}\n`).join(""));
}
