import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { FlagReader, parseFlags, UsageError } from "../../src/cli/flags/flag-reader.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { serveOptions } from "../../src/cli/serve/serve-options.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { blockOf } from "../support/pages.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const read = (...words: string[]) => new FlagReader(serveFlags, parseFlags(serveFlags, words));

describe("flags", () => {
  test("take their value after = or from the next argument; the last one is used", () => {
    expect(read("--secure-port=1", "--secure-port", "2").integer("secure-port", 0, 65535)).toBe(2);
    expect(read("--data-dir=a=b").text("data-dir")).toBe("a=b");
    expect(read("--data-dir=").optional("data-dir")).toBeUndefined();
  });

  test("have the defaults of the table", () => {
    const flags = read();
    expect([
      flags.text("vocabulary"),
      flags.integer("secure-port", 0, 65535),
      flags.durationMs("history-retention"),
    ]).toEqual(["platform", 6443, 300_000]);
    expect(flags.boolean("anonymous-auth")).toBeUndefined();
  });

  test("an optional number is undefined or in its range", () => {
    expect(read().optionalInteger("max-connections", 1, 9)).toBeUndefined();
    expect(read("--max-connections=9").optionalInteger("max-connections", 1, 9)).toBe(9);
    expect(() => read("--max-connections=0").optionalInteger("max-connections", 1, 9)).toThrow(UsageError);
  });

  test("repeated lists are joined, and booleans need no value", () => {
    expect(read("--tls-san=a, b", "--tls-san", "c").list("tls-san")).toEqual(["a", "b", "c"]);
    expect(read("--anonymous-auth").boolean("anonymous-auth")).toBe(true);
    expect(read("--anonymous-auth", "false").boolean("anonymous-auth")).toBe(false);
    expect(read("--anonymous-auth", "--secure-port=1").boolean("anonymous-auth")).toBe(true);
  });

  test.each([
    ["0", 0],
    ["90s", 90_000],
    ["1h30m", 5_400_000],
    ["250ms", 250],
    ["1.5s", 1500],
  ])("the duration %s is %d ms", (text, ms) => {
    expect(read(`--shutdown-delay-duration=${text}`).durationMs("shutdown-delay-duration")).toBe(ms);
  });

  test.each<[string, () => unknown, string]>([
    ["a word", () => read("serve"), "unexpected argument"],
    ["an unknown flag", () => read("--nothing"), "unknown flag --nothing; see --help"],
    ["a misspelt flag", () => read("--data_dir=x"), "did you mean --data-dir?"],
    ["a missing value", () => read("--data-dir"), "--data-dir needs a value"],
    [
      "a port beyond the last",
      () => read("--secure-port=65536").integer("secure-port", 0, 65535),
      "not an integer from 0 to 65535",
    ],
    [
      "a port that is none",
      () => read("--secure-port=http").integer("secure-port", 0, 65535),
      "not an integer",
    ],
    [
      "neither true nor false",
      () => read("--anonymous-auth=yes").boolean("anonymous-auth"),
      "not true or false",
    ],
    [
      "no duration",
      () => read("--history-retention=5").durationMs("history-retention"),
      "not a length of time",
    ],
    [
      "none of the choices",
      () => read("--vocabulary=mine").choice("vocabulary", ["platform", "kubernetes"]),
      "not one of platform, kubernetes",
    ],
  ])("%s is a mistake that is explained", (_what, parse, message) => {
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});

test("docs/flags.md: its configuration file sets the options that it names", async () => {
  const folder = temporaryFolder();
  const file = path.join(folder.path, "plinth.yaml");
  writeFileSync(file, blockOf("docs/flags.md", "yaml"));
  const { server } = await serveOptions(new Map([["config", file]]), {});
  folder.remove();
  expect(server).toMatchObject({
    vocabulary: kubernetes,
    port: 8443,
    storage: { engine: "etcd", endpoints: ["https://127.0.0.1:2379"] },
    retentionMs: 600_000,
    authentication: { oidc: { issuerUrl: "https://id.example.com", clientId: "plinth" } },
    audit: { policyFile: "/etc/plinth/audit.yaml", log: { path: "/var/log/plinth/audit.log" } },
  });
});
