import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const contents = new Map<string, string>();

/** The files that flags name. */
export const files = {
  path: folder.path,
  /** Writes the files of the tables; another test file of this process has removed them at its end. */
  restore(): void {
    mkdirSync(folder.path, { recursive: true });
    for (const [file, content] of contents) writeFileSync(file, content);
  },
  /** Called at the end of a test file. */
  remove(): void {
    folder.remove();
  },
};

/** Writes a file that a flag names; gives its path. */
export function write(name: string, content: string | object): string {
  const file = path.join(files.path, name);
  const text = typeof content === "string" ? content : JSON.stringify(content);
  contents.set(file, text);
  mkdirSync(files.path, { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** The user `ann`, who may do nothing; the token is her name. */
export const ann = `--token-auth-file=${write("ann.csv", "ann,ann,7\n")}`;
