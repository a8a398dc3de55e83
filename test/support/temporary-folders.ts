import { afterEach } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";

/** Returns a function that creates folders, which are removed after each test of the file. */
export function useTemporaryFolders(): () => string {
  const folders: { remove(): void }[] = [];
  afterEach(() => {
    for (const one of folders.splice(0)) one.remove();
  });
  return () => {
    const created = temporaryFolder();
    folders.push(created);
    return created.path;
  };
}
