/**
 * Reads the meta pages of an LMDB file with ordinary reads. The first two pages of a file are its meta pages: each write
 * overwrites the older one, so the newer one describes the committed state. LMDB trusts them: with a truncated or damaged file it
 * would access unmapped memory, which ends the process by a signal.
 *
 * A meta page has, after the common page header (`page-walk.ts`): a magic number (4 bytes), the version (4), an
 * address (8), the size of the map (8), the descriptions of the tree of free pages and of that of the databases (48 each),
 * the number of the last page (8) and that of the transaction (8).
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { lmdbMagic } from "./files.ts";

/** Size of the page header in bytes. */
export const headerBytes = 24;

/** Byte offsets in a page header. */
export const flagsAt = 18;
export const branchFlag = 0x01;
export const leafFlag = 0x02;
export const overflowFlag = 0x04;
const metaFlag = 0x08;

const version = 2;
/** Flag of a file with encrypted pages, which this program doesn't support. */
const encryptedFlag = 0x2000;
const metaBytes = 160;
/** Maximum number of pages by which a file may be shorter than recorded: free pages at its end may not have been written. */
const unwrittenPages = 2 ** 17;
const minPageBytes = 512;
const maxPageBytes = 65_536;
/** Root of an empty tree. */
export const noRoot = 2 ** 64 - 1;

/** Byte offsets in a meta page. */
const at = {
  magic: 24,
  version: 28,
  freeTree: 48,
  mainTree: 96,
  lastPage: 144,
  transaction: 152,
} as const;

/** Byte offsets in a tree's description. */
export const treeOffsets = {
  bytes: 48,
  pad: 0,
  flags: 4,
  depth: 6,
  branches: 8,
  leaves: 16,
  overflows: 24,
  entries: 32,
  root: 40,
} as const;

/** Damage of a page. */
export class PageDamage extends Error {
  override name = "PageDamage";
}

/** A tree of pages as its parent page describes it. */
export interface Tree {
  readonly name: string;
  readonly flags: number;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  readonly root: number;
}

/** Decodes the description of a tree at an offset of a page. */
export function treeAt(page: Buffer, offset: number, name: string): Tree {
  return {
    name,
    flags: page.readUInt16LE(offset + treeOffsets.flags),
    depth: page.readUInt16LE(offset + treeOffsets.depth),
    branches: uint64(page, offset + treeOffsets.branches),
    leaves: uint64(page, offset + treeOffsets.leaves),
    overflows: uint64(page, offset + treeOffsets.overflows),
    entries: uint64(page, offset + treeOffsets.entries),
    root: uint64(page, offset + treeOffsets.root),
  };
}

/** Decodes a number of 8 bytes, such as a page number. */
export function uint64(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 0x1_0000_0000;
}

/** The committed state of a file. */
export interface Meta {
  readonly pageBytes: number;
  readonly freeTree: Tree;
  readonly mainTree: Tree;
  readonly lastPage: number;
  readonly transaction: number;
}

export const freePagesName = "free pages";
export const databasesName = "databases";

/**
 * Reads the newer meta page and checks both.
 *
 * @param file the descriptor of the open file.
 * @param isRestored whether both meta pages have the state of an earlier transaction (`sync-recovery.ts`).
 * @throws {PageDamage} if one is damaged or contradicts the file.
 */
export function readMeta(file: number, isRestored = false): Meta {
  const { size } = fstatSync(file);
  const first = metaPage(file, 0, 0);
  const pageBytes = first.readUInt32LE(at.freeTree + treeOffsets.pad);
  const isPower =
    pageBytes >= minPageBytes && pageBytes <= maxPageBytes && (pageBytes & (pageBytes - 1)) === 0;
  if (!isPower) throw new PageDamage("meta page 0 is damaged: it has an impossible page size");
  const second = metaPage(file, pageBytes, 1);
  const transactions = [uint64(first, at.transaction), uint64(second, at.transaction)] as const;
  // Transactions are written alternately to both pages; a new file has 0 on both.
  const isNew = transactions[0] === 0 && transactions[1] === 0;
  const inTurn = transactions[0] % 2 === 0 && Math.abs(transactions[0] - transactions[1]) === 1;
  if (!isNew && !inTurn) throw new PageDamage("the meta pages are damaged: they don't follow each other");
  if (second.readUInt32LE(at.freeTree + treeOffsets.pad) !== pageBytes)
    throw new PageDamage("meta page 1 is damaged: it has another page size");
  const newer = transactions[1] > transactions[0] ? second : first;
  const lastPage = uint64(newer, at.lastPage);
  if (lastPage < 1 || lastPage > (size / pageBytes) * 2 + unwrittenPages)
    throw new PageDamage("a meta page is damaged: it has an impossible last page");
  const meta = {
    pageBytes,
    freeTree: treeAt(newer, at.freeTree, freePagesName),
    mainTree: treeAt(newer, at.mainTree, databasesName),
    lastPage,
    transaction: Math.max(...transactions),
  };
  const filePages = Math.floor(size / pageBytes);
  const written = [meta.freeTree, meta.mainTree].map((tree) => rootTransaction(file, meta, tree, filePages));
  // Each transaction writes new roots; otherwise the older meta page would be taken for the newer one.
  if (!isNew && !isRestored && !written.includes(meta.transaction))
    throw new PageDamage("a meta page is damaged: its roots are of another transaction");
  return meta;
}

/** Offset and length of the part of a meta page that a commit writes. */
export const committedMeta = { at: headerBytes, bytes: 144 } as const;

/** Offset of the transaction in that part. */
const committedTransactionAt = at.transaction - headerBytes;

/** Returns the transaction of the committed part of a meta page. */
export function metaTransaction(meta: Buffer): number {
  return uint64(meta, committedTransactionAt);
}

/** Returns the committed part of a meta page as another transaction writes it. */
export function relabelledMeta(meta: Buffer, transaction: number): Buffer {
  const copy = Buffer.from(meta);
  copy.writeBigUInt64LE(BigInt(transaction), committedTransactionAt);
  return copy;
}

/** Returns the page size of a file. @throws {PageDamage} if its first page is damaged. */
export function pageBytesIn(file: number): number {
  return metaPage(file, 0, 0).readUInt32LE(at.freeTree + treeOffsets.pad);
}

/** Decodes one of the meta pages. */
function metaPage(file: number, offset: number, number: number): Buffer {
  const page = Buffer.alloc(metaBytes);
  if (readSync(file, page, 0, metaBytes, offset) < metaBytes)
    throw new PageDamage(`meta page ${number} is cut off`);
  const isMeta = page.readUInt16LE(flagsAt) === metaFlag && page.readUInt32LE(at.magic) === lmdbMagic;
  if (!isMeta || uint64(page, 0) !== number) throw new PageDamage(`meta page ${number} is damaged`);
  const fileVersion = page.readUInt32LE(at.version);
  if (fileVersion !== version)
    throw new PageDamage(
      `meta page ${number} is damaged: the file's version is ${fileVersion}, not ${version}`,
    );
  if ((page.readUInt16LE(at.freeTree + treeOffsets.flags) & encryptedFlag) !== 0)
    throw new PageDamage(`meta page ${number} is damaged: the file isn't encrypted`);
  return page;
}

/**
 * Returns the transaction that wrote the root of a tree; undefined for an empty tree.
 *
 * @param filePages number of pages in the file.
 * @throws {PageDamage} if the root isn't in the file or isn't a page of a tree.
 */
function rootTransaction(
  file: number,
  { lastPage, pageBytes }: Meta,
  { name, root, depth }: Tree,
  filePages: number,
): number | undefined {
  if (root === noRoot) return undefined;
  if (root < 2 || root > lastPage || root >= filePages)
    throw new PageDamage(`the root of the tree of ${name} lies outside the file`);
  const head = Buffer.alloc(headerBytes);
  readSync(file, head, 0, headerBytes, root * pageBytes);
  if (uint64(head, 0) !== root || head.readUInt16LE(flagsAt) !== (depth === 1 ? leafFlag : branchFlag))
    throw new PageDamage(`page ${root} is damaged: it isn't the root of the tree of ${name}`);
  return uint64(head, 8);
}

/** Checks the meta pages of a file, to which another process may be writing. Returns the damage; undefined if there is none. */
export function metaDamage(path: string): string | undefined {
  return damageIn(path, (file) => readMeta(file));
}

/** As {@link metaDamage}; also reports a file that ends within a page, which a full disk can cause. */
export function fileDamage(path: string): string | undefined {
  return damageIn(path, (file) => {
    const { pageBytes } = readMeta(file);
    if (fstatSync(file).size % pageBytes !== 0) throw new PageDamage("the file ends within a page");
  });
}

const looks = 3;

function damageIn(path: string, look: (file: number) => unknown): string | undefined {
  const file = openSync(path, "r");
  try {
    let damage: PageDamage | undefined;
    // Another process may be writing the page; real damage persists.
    for (let count = 0; count < looks; count++) {
      try {
        look(file);
        return undefined;
      } catch (error) {
        if (!(error instanceof PageDamage)) throw error;
        damage = error;
      }
    }
    return damage!.message;
  } finally {
    closeSync(file);
  }
}
