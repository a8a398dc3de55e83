import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Told } from "./life.ts";
import type { Subject } from "./subject.ts";

/**
 * What kube-apiserver 1.26.11 answered to the lives of all kinds: a file for each kind and version, in it each step with the
 * code of its answer, and what the answer told in indented lines.
 */
const folder = path.join(import.meta.dirname, "answers");

function fileOf(subject: Subject): string {
  return path.join(folder, `${subject.in.replace(/^apis?\//, "").replaceAll("/", ".")}.txt`);
}

/** Writes what a life told as the answers that are expected from then on. */
export function writeAnswers(subject: Subject, told: readonly Told[]): void {
  const lines = told.flatMap(({ step, status, lines: facts }) => [
    `${status} ${step}`,
    ...facts.map((fact) => `  ${fact}`),
  ]);
  writeFileSync(fileOf(subject), `${lines.join("\n")}\n`);
}

/** The answers that are expected of a life. */
export function readAnswers(subject: Subject): Told[] {
  const told: { step: string; status: number; lines: string[] }[] = [];
  for (const line of readFileSync(fileOf(subject), "utf8").trimEnd().split("\n")) {
    if (line.startsWith("  ")) told.at(-1)!.lines.push(line.slice(2));
    else told.push({ step: line.slice(4), status: Number(line.slice(0, 3)), lines: [] });
  }
  return told;
}
