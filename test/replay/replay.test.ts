import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";

/**
 * The recorded answers of the reference release, where they lie beside the project: every difference is in one of three lists.
 * `ruled.txt` beside the recording says what is meant to differ; `ruled-by-us.txt` what the project holds right, with its reason;
 * `known-differences.txt` what still has to be mended. A difference in none of them fails.
 */
const folder = process.env["PLINTH_REPLAY"] ?? path.resolve(import.meta.dirname, "../../../shared/replay");
const lists = [
  path.join(folder, "ruled.txt"),
  path.join(import.meta.dirname, "ruled-by-us.txt"),
  path.join(import.meta.dirname, "known-differences.txt"),
];
const replayMs = 180_000;

interface Comparison {
  readonly totals: Readonly<Record<string, number>>;
  readonly mismatches: readonly { readonly step: string; readonly diff: readonly string[] }[];
}

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(path.join(tmpdir(), "plinth-replay-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs a script of the replay; gives what it printed. */
function run(script: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  const child = spawn(process.execPath, [path.join(folder, script), ...args], { env });
  let printed = "";
  child.stdout.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(printed));
  });
}

/** The answers of a server of this project to the recorded requests, against the recorded answers. */
async function compared(vocabulary: "kubernetes" | "platform"): Promise<Comparison> {
  const tokens = path.join(scratch, "tokens.csv");
  writeFileSync(tokens, 'admintoken,admin,admin-uid,"system:masters"\nusertoken,joe,joe-uid,"devs"\n');
  const server = await TestServer.start({
    vocabulary,
    tokenAuthFile: tokens,
    authentication: { serviceAccounts: { issuers: ["https://api"] } },
    enabledControllers: ["namespace", "garbagecollector", "clusterrole-aggregation"],
    // In a small range a service would be given the address of a deleted one at times, which the record hadn't.
    serviceClusterIpRanges: ["10.0.0.0/16"],
  });
  const out = path.join(scratch, `${vocabulary}.json`);
  try {
    const url = server.server.url!;
    await run("record.mjs", [
      "--url",
      url,
      "--token",
      "admintoken",
      "--vocabulary",
      vocabulary,
      "--out",
      out,
    ]);
  } finally {
    await server.close();
  }
  const ignored = path.join(scratch, "ignored.txt");
  writeFileSync(ignored, lists.map((file) => readFileSync(file, "utf8")).join("\n"));
  const reference = path.join(folder, "reference-1.26.json.gz");
  return JSON.parse(await run("compare.mjs", [reference, out, "--ignore", ignored, "--json"])) as Comparison;
}

describe.skipIf(!existsSync(folder))(
  "the recorded answers of the reference (skipped where they are missing)",
  () => {
    test.each(["kubernetes", "platform"] as const)(
      "are this server's, but for the differences listed: vocabulary %s",
      async (vocabulary) => {
        const { totals, mismatches } = await compared(vocabulary);
        expect(mismatches).toEqual([]);
        expect(totals["exact"]).toBeGreaterThan(1000);
      },
      replayMs,
    );
  },
);
