import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Told } from "./life.ts";

/** What was told in each case of a corpus, by its name. */
export type Answers = Map<string, readonly Told[]>;

/** A text of a line for each case, each step with the code of its answer, and, indented, each fact that the answer told. */
function fileOf(corpus: string): string {
  return path.join(import.meta.dirname, "answers", `${corpus}.txt.gz`);
}

/** Writes down what is expected from then on. */
export function writeAnswers(corpus: string, answers: Answers): void {
  const lines: string[] = [];
  for (const [name, told] of answers) {
    lines.push(`# ${name}`);
    for (const { step, status, lines: facts } of told)
      lines.push(`${status} ${step}`, ...facts.map((fact) => `  ${fact}`));
  }
  writeFileSync(fileOf(corpus), gzipSync(`${lines.join("\n")}\n`, { level: 9 }));
}

/** What kube-apiserver 1.26.11 answered. */
export function readAnswers(corpus: string): Answers {
  const answers = new Map<string, { step: string; status: number; lines: string[] }[]>();
  let told: { step: string; status: number; lines: string[] }[] = [];
  for (const line of gunzipSync(readFileSync(fileOf(corpus)))
    .toString()
    .trimEnd()
    .split("\n")) {
    if (line.startsWith("# ")) answers.set(line.slice(2), (told = []));
    else if (line.startsWith("  ")) told.at(-1)!.lines.push(line.slice(2));
    else told.push({ step: line.slice(4), status: Number(line.slice(0, 3)), lines: [] });
  }
  return answers;
}
