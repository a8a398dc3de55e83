import { writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The files that flags name; removed at the end. */
export const files = temporaryFolder();

/** Writes a file that a flag names; gives its path. */
export function write(name: string, content: string | object): string {
  const file = path.join(files.path, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** The user `ann`, who may do nothing; the token is her name. */
export const ann = `--token-auth-file=${write("ann.csv", "ann,ann,7\n")}`;
