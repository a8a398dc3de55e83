// A digest of the inputs of the build: the build is current if its stamp equals that of the sources.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export function sourceStamp() {
  const hash = createHash("sha256");
  const files = [
    "package.json",
    "package-lock.json",
    "tsconfig.build.json",
    ...below("scripts/build"),
    ...below("src"),
    ...below("console"),
  ];
  for (const file of files.toSorted()) hash.update(file).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

export function lockStamp() {
  return createHash("sha256").update(readFileSync("package-lock.json")).digest("hex");
}

function below(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.posix.join(folder, entry.name);
    return entry.isDirectory() ? below(file) : [file];
  });
}
