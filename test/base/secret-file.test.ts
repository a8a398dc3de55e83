import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, test } from "vitest";
import {
  otherReaders,
  otherWriters,
  loadSecretFile,
  UnsafeFileError,
} from "../../src/base/files/private-file.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const newFolder = useTemporaryFolders();

/** Writes a file with a mode, in a folder with a mode. */
function fileWith(mode: number, folderMode = 0o700): string {
  const folder = path.join(newFolder(), "keys");
  mkdirSync(folder);
  const file = path.join(folder, "a.key");
  writeFileSync(file, "content");
  chmodSync(file, mode);
  chmodSync(folder, folderMode);
  return file;
}

test.each([
  [{ uid: 1000, mode: 0o100600 }, undefined],
  [{ uid: 0, mode: 0o100644 }, undefined],
  [{ uid: 1001, mode: 0o100400 }, "owner"],
  [{ uid: 1001, mode: 0o100666 }, "owner"],
  [{ uid: 1000, mode: 0o100620 }, "group"],
  [{ uid: 0, mode: 0o100602 }, "others"],
  [{ uid: 1000, mode: 0o100666 }, "others"],
])("a file %j can be written by %s too for the user 1000", (access, writers) => {
  expect(otherWriters(access, 1000)).toBe(writers);
});

test.each([
  [{ uid: 1000, mode: 0o100600 }, undefined],
  [{ uid: 1000, mode: 0o100640 }, "group"],
  [{ uid: 1000, mode: 0o100644 }, "others"],
  [{ uid: 0, mode: 0o100440 }, undefined],
  [{ uid: 0, mode: 0o100444 }, "others"],
])("a file %j can be read by %s too for the user 1000", (access, readers) => {
  expect(otherReaders(access, 1000)).toBe(readers);
});

test("a file of any mode is accepted where there are no user ids", () => {
  expect(otherWriters({ uid: 7, mode: 0o666 })).toBe("owner");
  const { geteuid } = process;
  Object.defineProperty(process, "geteuid", { value: undefined, configurable: true });
  try {
    expect(otherWriters({ uid: 7, mode: 0o666 })).toBeUndefined();
    expect(otherReaders({ uid: 7, mode: 0o666 })).toBeUndefined();
  } finally {
    Object.defineProperty(process, "geteuid", { value: geteuid, configurable: true });
  }
});

describe.skipIf(process.platform === "win32")("loadSecretFile", () => {
  it.each([0o600, 0o400, 0o644])("reads a file with mode %o", async (mode) => {
    expect(await loadSecretFile(fileWith(mode), "own")).toBe("content");
  });

  it("refuses a file that everybody can write, with its mode and what to do", async () => {
    for (const origin of ["own", "named"] as const) {
      const file = fileWith(0o666);
      await expect(loadSecretFile(file, origin)).rejects.toThrow(
        new UnsafeFileError(
          `${file} can be written by other users (mode 0666): remove it if you don't know who wrote it, otherwise use chmod go-w`,
        ),
      );
    }
  });

  it("refuses an own file that its group can write, except in a folder of a group's volume", async () => {
    await expect(loadSecretFile(fileWith(0o660), "own")).rejects.toThrow("by its group (mode 0660)");
    expect(await loadSecretFile(fileWith(0o660, 0o2770), "own")).toBe("content");
    expect(await loadSecretFile(fileWith(0o660), "named")).toBe("content");
  });

  it.skipIf(process.getuid?.() !== 0)("refuses a file of another user", async () => {
    for (const origin of ["own", "named"] as const) {
      const file = fileWith(0o600);
      chownSync(file, 65_534, 65_534);
      await expect(loadSecretFile(file, origin)).rejects.toThrow(/belongs to the user 65534 \(mode 0600\)/);
    }
  });

  it("returns the error of the system for an absent file", async () => {
    await expect(loadSecretFile(path.join(newFolder(), "none"), "own")).rejects.toMatchObject({
      code: "ENOENT",
    });
  });
});
