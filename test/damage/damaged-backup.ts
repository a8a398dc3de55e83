import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { restoreLmdb } from "../../src/storage/lmdb/backup/restore.ts";
import { StoreError } from "../../src/storage/store.ts";
import type { Dice } from "../support/dice.ts";
import { run } from "./damaged-store.ts";

/** What became of a damage of a backup: it was detected, or the restored files are the same as of the undamaged backup. */
export type BackupOutcome = "refused" | "harmless";

/** A backup, to be damaged in copies. */
export class DamagedBackup {
  private constructor(
    private readonly folder: string,
    private readonly files: readonly string[],
    /** The restored files of the undamaged backup. */
    private readonly expected: ReadonlyMap<string, Buffer>,
  ) {}

  /**
   * Makes a backup.
   *
   * @param folder an empty folder.
   * @param dataDir the data folder of a server.
   */
  static async create(folder: string, dataDir: string): Promise<DamagedBackup> {
    const sound = path.join(folder, "sound");
    const { code, output } = await run("backup", `--data-dir=${dataDir}`, `--to=${sound}`);
    if (code !== 0) throw new Error(output);
    const restored = path.join(folder, "expected");
    await restore(sound, restored);
    return new DamagedBackup(folder, filesIn(sound), contentOf(restored));
  }

  /**
   * Damages one file of a copy, and restores it.
   *
   * @throws {Error} if something else than the content of the undamaged backup is restored, or a refused restore leaves files.
   */
  async examine(dice: Dice): Promise<BackupOutcome> {
    const [copy, target] = [path.join(this.folder, "copy"), path.join(this.folder, "target")];
    for (const dir of [copy, target]) rmSync(dir, { recursive: true, force: true });
    cpSync(path.join(this.folder, "sound"), copy, { recursive: true });
    const name = dice.chance(0.5) ? "data.mdb" : dice.pick(this.files);
    damageFile(path.join(copy, name), dice);
    try {
      await restore(copy, target);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const left = filesIn(target).filter((file) => statSync(path.join(target, file)).size > 0);
      if (left.length > 0)
        throw new Error(`a refused restore of a damaged ${name} left ${left.join(", ")}`, { cause: error });
      return "refused";
    }
    const restored = contentOf(target);
    for (const [file, bytes] of this.expected)
      if (restored.get(file)?.equals(bytes) !== true)
        throw new Error(`${file} was restored from a backup with a damaged ${name}`);
    return "harmless";
  }
}

/** Restores as `plinth restore` does. */
async function restore(from: string, target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  const folders = [{ name: "pki", dir: path.join(target, "pki") }];
  await restoreLmdb(from, path.join(target, "store"), { folders });
}

function damageFile(file: string, dice: Dice): void {
  const bytes = readFileSync(file);
  const kind = dice.below(4);
  if (kind === 0) return writeFileSync(file, bytes.subarray(0, dice.below(bytes.length)));
  if (kind === 1) return rmSync(file);
  if (kind === 2) return writeFileSync(file, Buffer.concat([bytes, Buffer.from([dice.below(256)])]));
  bytes[dice.below(bytes.length)]! ^= 1 << dice.below(8);
  writeFileSync(file, bytes);
}

/** The files in a folder and its subfolders, by relative path. */
function filesIn(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" });
  return names.filter((name) => statSync(path.join(dir, name)).isFile() && !name.endsWith("lock.mdb"));
}

const contentOf = (dir: string) =>
  new Map(filesIn(dir).map((name) => [name, readFileSync(path.join(dir, name))] as const));
