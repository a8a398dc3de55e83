import { defaultRelease } from "../../../base/releases.ts";
import { readReleaseRecord } from "../../../resources/releases/release-record.ts";
import { gatesOfRelease } from "../../../server/features/features.ts";
import { encryptedKeyIn } from "../../../server/encryption/encrypted-mark.ts";
import { storeFormat } from "../../../server/start/store-stamp.ts";
import type { Progress } from "../../../storage/lmdb/progress.ts";
import { rewriteLmdb, stampOfStore } from "../../../storage/lmdb/rewrite.ts";
import { vocabularies } from "../../../vocabulary/vocabularies.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { ClientError } from "../../client/client-error.ts";
import { storeFolder } from "../../serve/data-folder.ts";
import { UsageError, type FlagReader } from "../../flags/flag-reader.ts";
import { invokedAs } from "../../invocation.ts";
import { shellWord } from "../../terminal/shell.ts";
import { convertStore, type StoreConversion } from "./folder.ts";

/**
 * Runs `plinth convert --data-dir`.
 *
 * @returns the exit code: 1 if the folder can't be converted; then it is unchanged.
 * @throws {UsageError} @throws {ClientError} @throws {StoreError}
 */
export async function convertDataFolder(read: FlagReader, progress: Progress): Promise<number> {
  for (const name of ["filename", "recursive", "output-version", "output", "verbose"]) {
    if (read.flagNames.includes(name)) throw new UsageError(`--${name} and --data-dir exclude each other`);
  }
  if (read.optional("vocabulary") === undefined) throw new UsageError("--data-dir needs --vocabulary");
  const target = vocabularyNamed(
    read.choice(
      "vocabulary",
      vocabularies.map(({ name }) => name),
    ),
  );
  const dataDir = read.text("data-dir");
  const folder = storeFolder(dataDir);
  const stamp = await stampOfStore(folder);
  if (stamp === undefined)
    throw new ClientError(`${folder} has no mark of its vocabulary: start a server with it once`);
  if (stamp.format > storeFormat)
    throw new ClientError(`${folder} has format ${stamp.format}, this program supports up to ${storeFormat}`);
  if (stamp.label === target.name) {
    process.stdout.write(`${dataDir} has the ${target.name} vocabulary already\n`);
    return 0;
  }
  const source = vocabularyNamed(stamp.label);
  const isDryRun = read.boolean("dry-run") === true;
  let result: StoreConversion | undefined;
  await rewriteLmdb(folder, {
    stamp: { label: target.name, format: storeFormat },
    progress,
    async change(copy) {
      const { newest } = await readReleaseRecord(copy, defaultRelease);
      if (newest !== defaultRelease) {
        throw new ClientError(
          `${folder} has objects of release ${newest}: --data-dir converts those of release ${defaultRelease} only`,
        );
      }
      const encrypted = await encryptedKeyIn(copy);
      if (encrypted !== undefined) {
        throw new ClientError(
          `${folder} has encrypted values, such as that of ${encrypted}: store them in plain text first, with identity as the first provider and plinth rewrite`,
        );
      }
      result = await convertStore(copy, source, target, gatesOfRelease(defaultRelease).enabled);
      return result.refusals.length === 0 && !isDryRun;
    },
  });
  return report(result!, { dataDir, target, isDryRun });
}

function vocabularyNamed(name: string): Vocabulary {
  const vocabulary = vocabularies.find((one) => one.name === name);
  if (vocabulary === undefined)
    throw new ClientError(`this program has no vocabulary ${JSON.stringify(name)}`);
  return vocabulary;
}

/** Maximum number of refusals and notes that are printed, each. */
const maxLines = 20;

function report(
  { refusals, notes, changed, unchanged, leftOut }: StoreConversion,
  {
    dataDir,
    target,
    isDryRun,
  }: { readonly dataDir: string; readonly target: Vocabulary; readonly isDryRun: boolean },
): number {
  for (const lines of [refusals, notes]) {
    for (const line of lines.slice(0, maxLines)) process.stderr.write(`${line}\n`);
    if (lines.length > maxLines) process.stderr.write(`and ${lines.length - maxLines} more\n`);
  }
  if (refusals.length > 0) {
    process.stderr.write(`plinth: ${dataDir} is unchanged: ${refusals.length} objects can't be converted\n`);
    return 1;
  }
  const counts =
    `${changed} objects with new names, ${unchanged} unchanged; ` +
    `${leftOut} objects of the system left out, which the server creates again`;
  process.stdout.write(
    isDryRun
      ? `${dataDir} can be converted to the ${target.name} vocabulary: ${counts}\n`
      : `converted ${dataDir} to the ${target.name} vocabulary: ${counts}\n` +
          "tokens of service accounts have a new issuer: request new ones; client certificates stay valid\n" +
          `start it with: ${invokedAs()} serve --data-dir=${shellWord(dataDir)} --vocabulary=${target.name}\n`,
  );
  return 0;
}
