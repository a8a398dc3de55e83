import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Told } from "./life.ts";
import type { Release } from "./subject.ts";

/** What was told in each case of a corpus, by its name. */
export type Answers = ReadonlyMap<string, readonly Told[]>;

/**
 * A text of a line for each case, each step with the code of its answer, and, indented, each fact that the answer told. The
 * answers of a later release are written as changes of those of release 1.26 (`changesOf`).
 */
function fileOf(corpus: string, release: Release): string {
  const name = release === "1.26" ? corpus : `${corpus}-${release}`;
  return path.join(import.meta.dirname, "answers", `${name}.txt.gz`);
}

const textOf = ({ step, status, lines }: Told): string =>
  [`${status} ${step}`, ...lines.map((line) => `  ${line}`)].join("\n");

/** Writes down what is expected from then on. */
export function writeAnswers(corpus: string, release: Release, answers: Answers): void {
  const base = release === "1.26" ? undefined : readAnswers(corpus, "1.26");
  const lines: string[] = [];
  for (const [name, told] of answers) {
    const texts = told.map(textOf);
    const before = base?.get(name)?.map(textOf) ?? [];
    lines.push(`# ${name}`, ...(base === undefined ? texts : changesOf(before, texts)));
  }
  writeFileSync(fileOf(corpus, release), gzipSync(`${lines.join("\n")}\n`, { level: 9 }));
}

const cached = new Map<string, Answers>();

/** What the kube-apiserver of a release answered (1.26.11, 1.37.2). */
export function readAnswers(corpus: string, release: Release): Answers {
  const file = fileOf(corpus, release);
  const answers = cached.get(file) ?? parseAnswers(corpus, release);
  cached.set(file, answers);
  return answers;
}

function parseAnswers(corpus: string, release: Release): Answers {
  const base = release === "1.26" ? undefined : readAnswers(corpus, "1.26");
  const answers = new Map<string, { step: string; status: number; lines: string[] }[]>();
  let told: { step: string; status: number; lines: string[] }[] = [];
  let before: Iterator<Told> = [].values();
  for (const line of gunzipSync(readFileSync(fileOf(corpus, release)))
    .toString()
    .trimEnd()
    .split("\n")) {
    if (line.startsWith("# ")) {
      answers.set(line.slice(2), (told = []));
      before = (base?.get(line.slice(2)) ?? []).values();
    } else if (line.startsWith("  ")) told.at(-1)!.lines.push(line.slice(2));
    else if (/^[=-]/.test(line))
      for (let left = Number(line.slice(1)); left > 0; left--) {
        const { value } = before.next() as IteratorYieldResult<Told>;
        if (line.startsWith("=")) told.push({ ...value, lines: [...value.lines] });
      }
    else told.push({ step: line.slice(4), status: Number(line.slice(0, 3)), lines: [] });
  }
  return answers;
}

/** The steps of a case: `=3` are the next three steps of the other release, `-3` are left out, all others are given. */
function* changesOf(before: readonly string[], now: readonly string[]): Generator<string> {
  const position = new Map(before.map((text, at) => [text, at]));
  let next = 0;
  let same = 0;
  for (const text of now) {
    const at = position.get(text) ?? -1;
    if (same > 0 && at !== next) yield `=${same}`;
    if (at < next) yield text;
    else if (at > next) yield `-${at - next}`;
    same = at < next ? 0 : at > next ? 1 : same + 1;
    next = Math.max(next, at + 1);
  }
  if (same > 0) yield `=${same}`;
}
