import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { cpuStopwatch } from "../support/cpu-time.ts";
import { filesBelow } from "../tidy/source-files.ts";
import { root } from "../support/root.ts";
import { readCorpus } from "./corpus.ts";
import { Dice } from "../support/dice.ts";
import { mutate } from "./engine/mutate.ts";
import { targets } from "./targets/all.ts";
import { effort } from "../support/effort.ts";

/** Processor time for new inputs of each target, in milliseconds. */
const newInputsMs = effort(40, 150);
const maxNewInputs = 500;

describe.each(targets.map((target) => [target.name, target] as const))("decoder %s", (name, target) => {
  const seeds = target.seeds.map((seed) => Buffer.from(seed));
  const corpus = [...readCorpus(name).values()];

  it("keeps its properties for the inputs of the corpus", async () => {
    for (const input of [...seeds, ...corpus]) await target.run(input);
  });

  it("keeps its properties for mutations of them", async () => {
    const dice = new Dice(Number(process.env["PLINTH_FUZZ_SEED"] ?? "1"));
    const inputs = [...seeds, ...corpus];
    const usedMs = cpuStopwatch();
    const dictionary = target.dictionary.map((token) => Buffer.from(token));
    for (let count = 0; count < maxNewInputs && usedMs() < newInputsMs; count++) {
      const sources = { dictionary, other: dice.pick(inputs), maxBytes: target.maxBytes ?? 4096 };
      const input = mutate(dice.pick(inputs), dice, sources);
      try {
        await target.run(input);
      } catch (error) {
        throw new Error(`${name}: input ${input.toString("base64")} in Base64`, { cause: error });
      }
    }
  });
});

it("the corpus has a folder for each target, and is small", () => {
  const folder = "test/fuzz/corpus";
  const names = new Set(targets.map((target) => target.name));
  expect(readdirSync(path.join(root, folder)).filter((name) => !names.has(name))).toEqual([]);
  const bytes = filesBelow(folder).reduce((sum, file) => sum + statSync(path.join(root, file)).size, 0);
  expect(bytes).toBeLessThan(300 * 1024);
});
