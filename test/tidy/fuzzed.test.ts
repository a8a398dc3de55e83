import { expect, test } from "vitest";
import { targets } from "../fuzz/targets/all.ts";
import { read, sources } from "./source-files.ts";

/** Modules without a target, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  "src/admission/configuration.ts": "a file of the administrator; its decoder is schema/configuration.ts",
  "src/admission/plugins/pod-security/levels.ts": "compares with a list and one regular expression",
  "src/authentication/configuration/authentication-configuration.ts":
    "a file of the administrator; its decoder is schema/configuration.ts",
  "src/authorization/configuration/authorization-configuration.ts":
    "a file of the administrator; its decoder is schema/configuration.ts",
  "src/cli/client/access.ts": "reads a file; the decoder is remote/client-configuration.ts",
  "src/fields/apply/read-set.ts": "reads values that are decoded already",
  "src/kinds/checks/quantities.ts": "calls the decoder of the target quantity",
  "src/remote/named-credentials.ts": "calls the decoder of the target client-configuration",
  "src/resources/objects/stored.ts": "reads what this server wrote; the target json covers decodeTrusted",
  "src/storage/lmdb/committer/messages.ts":
    "reads what a process of the same server sent over a private socket",
  "src/storage/lmdb/backup/manifest.ts": "reads what a backup wrote; `npm run damage` damages it",
  "src/storage/postgres/address.ts": "an option of the administrator",
  "src/server/certificates/serving.ts": "reads a file; the decoder is base/certificates/pem.ts",
  "src/server/encryption/encryption-configuration.ts":
    "a file of the administrator; its decoder is schema/configuration.ts",
  "src/server/tracing/tracing.ts": "a file of the administrator; its decoder is schema/configuration.ts",
  "src/server/options/option-files.ts": "reads a file without decoding it",
  "src/server/start/open-files.ts": "reads a file of the kernel",
};

/** An exported function that reads a text or bytes, by its name and its first parameter. */
const decoder =
  /^export (?:async )?function ((?:parse|decode|read)[A-Z]\w*)\(\s*\w+\??: (?:string|Uint8Array|Buffer|unknown|JsonValue|readonly Buffer\[\])/gm;

const decoders = sources.flatMap((file) =>
  [...read(file).matchAll(decoder)].map(([, name]) => ({ file, name: name! })),
);
const fuzzed = new Set(targets.flatMap(({ files }) => files));

test("each module with a decoder of texts or bytes has a fuzzing target, or a reason for none", () => {
  expect(decoders.length).toBeGreaterThan(40);
  const missing = decoders.filter(({ file }) => !fuzzed.has(file) && !Object.hasOwn(exceptions, file));
  expect(missing.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});

test("fuzzing targets and their exceptions name existing modules, each exception only once", () => {
  const named = [...fuzzed, ...Object.keys(exceptions)];
  expect(named.filter((file) => !sources.includes(file))).toEqual([]);
  const decoding = new Set(decoders.map(({ file }) => file));
  expect(Object.keys(exceptions).filter((file) => fuzzed.has(file) || !decoding.has(file))).toEqual([]);
});
