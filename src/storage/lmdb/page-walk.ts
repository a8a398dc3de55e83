/**
 * Reads the pages of an LMDB file with ordinary reads and tells what is wrong with their structure. LMDB itself reads
 * through memory and trusts what it finds: a damaged page ends the process by a signal. So this comes first.
 *
 * A page begins with its number (8 bytes), the transaction that wrote it (8), padding (2), flags (2), and the bounds of its
 * free space (2 and 2; of a large value's pages: their number, 4). The nodes of a tree page are found through offsets that
 * follow. Numbers are little-endian.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { dataFile } from "./files.ts";

const headerBytes = 24;
const branchFlag = 0x01;
const leafFlag = 0x02;
const overflow = 0x04;
/** The flags that say what a page is; others are of use in memory only. */
const kindMask = 0x2f;
const nodeBytes = 8;
const largeValueFlag = 0x01;
const subtree = 0x02;
const noRoot = 2 ** 64 - 1;

/** Where a meta page says what. */
const metaOffsets = { pageBytes: 48, freeTree: 48, mainTree: 96, lastPage: 144, transaction: 152 } as const;
/** Where a tree's description says what. */
const treeOffsets = {
  bytes: 48,
  depth: 6,
  branches: 8,
  leaves: 16,
  overflows: 24,
  entries: 32,
  root: 40,
} as const;

/** Up to this size all pages are read at the start of a server; of a larger file those that lead to others. */
const wholeUpToBytes = 16 * 1024 * 1024;

const freePagesName = "free pages";
const databasesName = "databases";

/** A tree of pages, as the page above it describes it. */
interface Tree {
  readonly name: string;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  readonly root: number;
}

/** What is wrong with a page; ends the walk. */
class PageDamage extends Error {
  override name = "PageDamage";
}

/**
 * The first thing that is wrong with the newest snapshot's pages; undefined when they are sound. The caller holds a read
 * transaction, so that no page of that snapshot is written to meanwhile.
 *
 * @param everything also the pages that lead nowhere, of a large file too.
 */
export function damagedPage(dir: string, pageBytes: number, everything: boolean): string | undefined {
  const file = openSync(join(dir, dataFile), "r");
  try {
    const walk = new PageWalk(file, pageBytes, everything);
    walk.run();
    return undefined;
  } catch (error) {
    if (error instanceof PageDamage) return error.message;
    throw error;
  } finally {
    closeSync(file);
  }
}

class PageWalk {
  private readonly seen: Uint8Array;
  private readonly lastPage: number;
  private readonly transaction: number;
  private readonly meta: Buffer;
  private readonly whole: boolean;
  /** One for each page that is being looked at, from the root down, as a large file has thousands of pages. */
  private readonly buffers: Buffer[] = [];
  private depth = 0;
  private readonly head: Buffer;

  constructor(
    private readonly file: number,
    private readonly pageBytes: number,
    everything: boolean,
  ) {
    this.head = Buffer.alloc(pageBytes);
    const metas = [this.read(0, Buffer.alloc(pageBytes)), this.read(1, Buffer.alloc(pageBytes))];
    metas.sort((a, b) => uint64(b, metaOffsets.transaction) - uint64(a, metaOffsets.transaction));
    this.meta = metas[0]!;
    this.lastPage = uint64(this.meta, metaOffsets.lastPage);
    this.transaction = uint64(this.meta, metaOffsets.transaction);
    if (this.meta.readUInt32LE(metaOffsets.pageBytes) !== pageBytes)
      throw new PageDamage("the meta page is damaged");
    this.seen = new Uint8Array(this.lastPage + 1);
    this.whole = everything || (this.lastPage + 1) * pageBytes <= wholeUpToBytes;
  }

  run(): void {
    // The list of free pages is what every write begins with.
    this.tree(treeAt(this.meta, metaOffsets.freeTree, freePagesName));
    this.tree(treeAt(this.meta, metaOffsets.mainTree, databasesName));
  }

  private tree(tree: Tree): void {
    if (tree.root === noRoot) {
      if (tree.entries > 0) throw new PageDamage(`the tree of ${tree.name} has no root`);
      return;
    }
    const found = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
    if (tree.depth > 64) throw new PageDamage(`the tree of ${tree.name} is too deep`);
    this.page(tree, tree.root, 1, found);
    const { branches, leaves, overflows, entries } = tree;
    if (!this.whole) return;
    if (
      found.branches !== branches ||
      found.leaves !== leaves ||
      found.overflows !== overflows ||
      found.entries !== entries
    ) {
      throw new PageDamage(`the tree of ${tree.name} hasn't the pages and entries that it says it has`);
    }
  }

  private page(tree: Tree, number: number, depth: number, found: Counts): void {
    const isLeaf = depth === tree.depth;
    // The tree of databases leads to the others.
    const claimsLeaves = !this.whole && tree.name !== databasesName && tree.name !== freePagesName;
    if (isLeaf && claimsLeaves) return this.claim(number);
    const aboveClaimed = claimsLeaves && depth + 1 === tree.depth;
    const page = this.treePage(number, isLeaf ? leafFlag : branchFlag);
    this.depth++;
    const count = page.readUInt16LE(20) >> 1;
    if (isLeaf) found.leaves++;
    else found.branches++;
    let beforeAt = 0;
    let beforeEnd = 0;
    for (let index = 0; index < count; index++) {
      const at = this.nodeAt(page, number, index);
      const keyAt = at + nodeBytes;
      const keyEnd = this.keyEnd(page, number, at);
      // The first key of a branch page stands for everything below the second.
      const ordered = tree.name !== freePagesName && (isLeaf || index > 0);
      if (ordered && beforeEnd > 0 && !isBelow(page, beforeAt, beforeEnd, keyAt, keyEnd))
        this.fail(number, "its keys are not in order");
      if (ordered) [beforeAt, beforeEnd] = [keyAt, keyEnd];
      if (isLeaf) this.leafNode(tree, page, number, at, found);
      else if (aboveClaimed) this.claim(childOf(page, at));
      else this.page(tree, childOf(page, at), depth + 1, found);
    }
    if (isLeaf) found.entries += count;
    this.depth--;
  }

  private treePage(number: number, kind: number): Buffer {
    this.claim(number);
    const page = this.read(number, (this.buffers[this.depth] ??= Buffer.alloc(this.pageBytes)));
    if (uint64(page, 0) !== number) this.fail(number, "it has the number of another");
    if (uint64(page, 8) > this.transaction) this.fail(number, "it is newer than the file");
    if ((page.readUInt16LE(18) & kindMask) !== kind) this.fail(number, "it is of another kind");
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    const room = this.pageBytes - headerBytes;
    if (lower % 2 !== 0 || lower === 0 || lower > upper || upper > room) {
      this.fail(number, "its free space is not within it");
    }
    return page;
  }

  private nodeAt(page: Buffer, number: number, index: number): number {
    const offset = page.readUInt16LE(headerBytes + index * 2);
    const at = headerBytes + offset;
    if (offset < page.readUInt16LE(22) || at + nodeBytes > this.pageBytes)
      this.fail(number, "an entry lies outside it");
    return at;
  }

  private keyEnd(page: Buffer, number: number, at: number): number {
    const end = at + nodeBytes + page.readUInt16LE(at + 6);
    if (end > this.pageBytes) this.fail(number, "a key lies outside it");
    return end;
  }

  /** A leaf's entry: its value lies within the page, or on pages of its own, or describes a tree. */
  private leafNode(tree: Tree, page: Buffer, number: number, at: number, found: Counts): void {
    const flags = page.readUInt16LE(at + 4);
    const size = page.readUInt16LE(at) + page.readUInt16LE(at + 2) * 0x10000;
    const start = at + nodeBytes + page.readUInt16LE(at + 6);
    const isLarge = (flags & largeValueFlag) !== 0;
    const stored = isLarge ? headerBytes : size;
    if (start + stored > this.pageBytes) this.fail(number, "a value lies outside it");
    const first = isLarge ? uint64(page, start) : 0;
    if (isLarge) this.largeValue(number, first, size, found);
    if (tree.name === freePagesName) {
      this.freePages(number, isLarge ? this.valueOf(first, size) : page.subarray(start, start + size));
    }
    if ((flags & subtree) === 0) return;
    if (tree.name !== databasesName || size !== treeOffsets.bytes) this.fail(number, "a value is no tree");
    this.tree(treeAt(page, start, page.toString("utf8", at + nodeBytes, start)));
  }

  private largeValue(from: number, number: number, size: number, found: Counts): void {
    const pages = Math.floor((headerBytes - 1 + size) / this.pageBytes) + 1;
    if (number + pages - 1 > this.lastPage) this.fail(from, "a large value lies outside the file");
    for (let one = number; one < number + pages; one++) this.claim(one);
    found.overflows += pages;
    const head = this.read(number, this.head);
    if (uint64(head, 0) !== number || (head.readUInt16LE(18) & kindMask) !== overflow) {
      this.fail(number, "it doesn't begin a large value");
    }
    if (head.readUInt32LE(20) !== pages) this.fail(number, "its large value has another length");
  }

  /**
   * A list of free pages: how many entries, then these: the number of a page, to which no tree may lead; or, less than 0, how
   * many pages the next one begins; or 0, where one was used.
   */
  private freePages(number: number, list: Buffer): void {
    const count = list.length < 8 ? -1 : uint64(list, 0);
    if (count < 0 || (count + 1) * 8 > list.length) this.fail(number, "its list of free pages is cut off");
    for (let index = 1, run = 1; index <= count; index++) {
      const entry = Number(list.readBigInt64LE(index * 8));
      if (entry < -this.lastPage) this.fail(number, "its list of free pages is damaged");
      for (let free = entry; entry > 0 && free < entry + run; free++) this.claim(free);
      run = entry < 0 ? -entry : 1;
    }
  }

  private valueOf(first: number, size: number): Buffer {
    const value = Buffer.allocUnsafe(size);
    const length = readSync(this.file, value, 0, size, first * this.pageBytes + headerBytes);
    if (length < size) throw new PageDamage(`page ${first} is cut off`);
    return value;
  }

  /** A page belongs to one place in one tree. */
  private claim(number: number): void {
    if (number < 2 || number > this.lastPage) throw new PageDamage(`page ${number} lies outside the file`);
    if (this.seen[number] === 1) this.fail(number, "two others lead to it");
    this.seen[number] = 1;
  }

  /** Reads a page into a buffer, which it gives back. */
  private read(number: number, page: Buffer): Buffer {
    const length = readSync(this.file, page, 0, this.pageBytes, number * this.pageBytes);
    if (length < this.pageBytes) throw new PageDamage(`page ${number} is cut off`);
    return page;
  }

  private fail(number: number, why: string): never {
    throw new PageDamage(`page ${number} is damaged: ${why}`);
  }
}

/** Whether one key on a page is below another; there are too many, and they are too short, for a call of Node each. */
function isBelow(page: Buffer, at: number, end: number, otherAt: number, otherEnd: number): boolean {
  const length = Math.min(end - at, otherEnd - otherAt);
  for (let index = 0; index < length; index++) {
    const difference = page[at + index]! - page[otherAt + index]!;
    if (difference !== 0) return difference < 0;
  }
  return end - at < otherEnd - otherAt;
}

interface Counts {
  branches: number;
  leaves: number;
  overflows: number;
  entries: number;
}

function treeAt(page: Buffer, at: number, name: string): Tree {
  return {
    name,
    depth: page.readUInt16LE(at + treeOffsets.depth),
    branches: uint64(page, at + treeOffsets.branches),
    leaves: uint64(page, at + treeOffsets.leaves),
    overflows: uint64(page, at + treeOffsets.overflows),
    entries: uint64(page, at + treeOffsets.entries),
    root: uint64(page, at + treeOffsets.root),
  };
}

/** The page that a branch's entry leads to: 48 bits, of which the upper ones stand where a leaf's has flags. */
function childOf(page: Buffer, at: number): number {
  return page.readUInt32LE(at) + page.readUInt16LE(at + 4) * 0x1_0000_0000;
}

function uint64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 0x1_0000_0000;
}
