/**
 * Reads the pages of an LMDB file with ordinary reads and reports structural damage. LMDB maps the file into memory and trusts
 * its content: a damaged page ends the process by a signal. So this check runs first.
 *
 * A page begins with its number (8 bytes), the transaction that wrote it (8), padding (2), flags (2), and the bounds of its
 * free space (2 and 2; of a large value's pages: their number, 4). The nodes of a tree page are counts through offsets that
 * follow. Numbers are little-endian.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { dataFile } from "./files.ts";
import { noProgress, type Progress } from "./progress.ts";
import {
  branchFlag,
  databasesName,
  flagsAt,
  freePagesName,
  headerBytes,
  leafFlag,
  type Meta,
  noRoot,
  overflowFlag,
  PageDamage,
  readMeta,
  type Tree,
  treeAt,
  treeOffsets,
  uint64,
} from "./meta-pages.ts";

const nodeBytes = 8;
/** Flags of a node of a leaf page: the value is stored on overflow pages; the value describes a tree. */
const largeValueFlag = 0x01;
const subtree = 0x02;
/** Flags of the tree of free pages for its integer keys; other trees have no flags. */
const numericFlags = 0x08;
const orderFlags = 0x7f;

/** Maximum size of a file of which a starting server reads all pages; of larger files it reads the branch pages. */
const wholeUpToBytes = 16 * 1024 * 1024;

/** Approximate number of other pages that are read of a larger file. */
const sampledPages = 1024;

/** How many pages are read between two reports of the progress. */
const reportEveryPages = 1024;

/**
 * Checks the pages of the newest snapshot. Returns the first error; undefined if there is none. The caller holds a read
 * transaction, so that no page of the snapshot is overwritten.
 *
 * @param everything also reads all leaf and overflow pages of a large file.
 * @param isRestored whether the snapshot is one that {@link readMeta} knows as restored.
 */
export function damagedPage(
  dir: string,
  everything: boolean,
  progress: Progress = noProgress,
  isRestored = false,
): string | undefined {
  const file = openSync(join(dir, dataFile), "r");
  try {
    new PageWalk(file, everything, progress, isRestored).run();
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
  private readonly meta: Meta;
  private readonly filePages: number;
  private readonly whole: boolean;
  /** One buffer for each level of the tree; a large file has thousands of pages. */
  private readonly buffers: Buffer[] = [];
  private depth = 0;
  private readonly head: Buffer;
  /** One in this many pages without children is read. */
  private readonly stride: number;
  private leaves = 0;
  /** Number of pages that are marked. */
  private claims = 0;

  constructor(
    private readonly file: number,
    everything: boolean,
    private readonly progress: Progress,
    isRestored: boolean,
  ) {
    this.meta = readMeta(file, isRestored);
    const { lastPage, pageBytes } = this.meta;
    this.filePages = Math.floor(fstatSync(file).size / pageBytes);
    this.head = Buffer.alloc(headerBytes);
    this.seen = new Uint8Array(lastPage + 1);
    this.whole = everything || (lastPage + 1) * pageBytes <= wholeUpToBytes;
    this.stride = this.whole ? 1 : Math.ceil(lastPage / sampledPages);
  }

  run(): void {
    // Every write begins with the list of free pages.
    this.tree(this.meta.freeTree);
    this.tree(this.meta.mainTree);
    if (this.whole) this.requireNoOthers();
  }

  /** Checks that every page belongs to a tree or is free; otherwise the end of the file is damaged, or pages are lost. */
  private requireNoOthers(): void {
    const lost = this.seen.indexOf(0, 2);
    if (lost >= 0) throw new PageDamage(`page ${lost} is neither in use nor free`);
  }

  private tree(tree: Tree): void {
    const numeric = tree.name === freePagesName ? numericFlags : 0;
    if ((tree.flags & orderFlags) !== numeric)
      throw new PageDamage(`the tree of ${tree.name} has another order`);
    if (tree.root === noRoot) {
      if (tree.entries > 0) throw new PageDamage(`the tree of ${tree.name} has no root`);
      return;
    }
    const counts = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
    if (tree.depth > 64) throw new PageDamage(`the tree of ${tree.name} is too deep`);
    this.page(tree, tree.root, 1, { lower: undefined, upper: undefined }, counts);
    const { branches, leaves, overflows, entries } = tree;
    if (!this.whole) return;
    if (
      counts.branches !== branches ||
      counts.leaves !== leaves ||
      counts.overflows !== overflows ||
      counts.entries !== entries
    ) {
      throw new PageDamage(`the tree of ${tree.name} hasn't the pages and entries that it says it has`);
    }
  }

  /** @param bounds range of the keys of the page, from its parent pages. */
  private page(tree: Tree, number: number, depth: number, bounds: Bounds, counts: Counts): void {
    const isLeaf = depth === tree.depth;
    // The tree of databases contains the roots of the others.
    const canSkip = !this.whole && tree.name !== databasesName && tree.name !== freePagesName;
    if (isLeaf && canSkip && this.leaves++ % this.stride > 0) return this.claimUsed(number);
    const page = this.treePage(number, isLeaf ? leafFlag : branchFlag);
    const isBelow = tree.name === freePagesName ? isNumberBelow : isKeyBelow;
    this.depth++;
    const count = page.readUInt16LE(20) >> 1;
    if (isLeaf) counts.leaves++;
    else counts.branches++;
    if (count === 0) this.fail(number, "it is empty");
    let before = bounds.lower;
    for (let index = 0; index < count; index++) {
      const at = this.nodeAt(page, number, index);
      // The first key of a branch page is ignored: its child has all keys below the second one.
      const first = !isLeaf && index === 0;
      const key = first ? undefined : this.keyAt(tree, page, number, at);
      // The parent's key may be equal to the first key of the page.
      const mayBeEqual = before === bounds.lower;
      const inOrder =
        key === undefined ||
        before === undefined ||
        isBelow(before, key) ||
        (mayBeEqual && !isBelow(key, before));
      if (!inOrder) this.fail(number, "its keys are not in order");
      if (key !== undefined) before = key;
      if (isLeaf) this.leafNode(tree, page, number, at, counts);
      else {
        const upper =
          index + 1 < count
            ? this.keyAt(tree, page, number, this.nodeAt(page, number, index + 1))
            : bounds.upper;
        this.page(tree, childOf(page, at), depth + 1, { lower: key ?? bounds.lower, upper }, counts);
      }
    }
    if (before !== bounds.lower && bounds.upper !== undefined && !isBelow(before!, bounds.upper))
      this.fail(number, "its keys belong on another page");
    if (isLeaf) counts.entries += count;
    this.depth--;
  }

  private treePage(number: number, kind: number): Buffer {
    this.claimUsed(number);
    const { pageBytes, transaction } = this.meta;
    const page = this.read(number, (this.buffers[this.depth] ??= Buffer.alloc(pageBytes)));
    if (uint64(page, 0) !== number) this.fail(number, "it has the number of another");
    if (uint64(page, 8) > transaction) this.fail(number, "it is newer than the file");
    if (page.readUInt16LE(flagsAt) !== kind) this.fail(number, "it is of another kind");
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    const room = pageBytes - headerBytes;
    if (lower % 2 !== 0 || lower === 0 || lower > upper || upper > room) {
      this.fail(number, "its free space is not within it");
    }
    return page;
  }

  private nodeAt(page: Buffer, number: number, index: number): number {
    const offset = page.readUInt16LE(headerBytes + index * 2);
    const at = headerBytes + offset;
    if (offset < page.readUInt16LE(22) || at + nodeBytes > this.meta.pageBytes)
      this.fail(number, "an entry lies outside it");
    return at;
  }

  private keyAt(tree: Tree, page: Buffer, number: number, at: number): Key {
    const start = at + nodeBytes;
    const end = start + page.readUInt16LE(at + 6);
    if (end > this.meta.pageBytes) this.fail(number, "a key lies outside it");
    if (tree.name === freePagesName && end - start !== 8) this.fail(number, "a key is no transaction");
    return { page, start, end };
  }

  /** Checks a node of a leaf: its value is in the page, on overflow pages, or describes a tree. */
  private leafNode(tree: Tree, page: Buffer, number: number, at: number, counts: Counts): void {
    const flags = page.readUInt16LE(at + 4);
    const size = page.readUInt16LE(at) + page.readUInt16LE(at + 2) * 0x10000;
    const start = at + nodeBytes + page.readUInt16LE(at + 6);
    const describesTree = tree.name === databasesName;
    if (describesTree ? flags !== subtree : (flags & ~largeValueFlag) !== 0)
      this.fail(number, "a value is of another kind");
    const isLarge = flags === largeValueFlag;
    const stored = isLarge ? headerBytes : size;
    if (start + stored > this.meta.pageBytes) this.fail(number, "a value lies outside it");
    const first = isLarge ? uint64(page, start) : 0;
    if (isLarge) this.largeValue(number, first, size, counts);
    if (tree.name === freePagesName) {
      this.freePages(number, isLarge ? this.valueOf(first, size) : page.subarray(start, start + size));
    }
    if (!describesTree) return;
    if (size !== treeOffsets.bytes) this.fail(number, "a value is no tree");
    this.tree(treeAt(page, start, page.toString("utf8", at + nodeBytes, start)));
  }

  private largeValue(from: number, number: number, size: number, counts: Counts): void {
    const pages = Math.floor((headerBytes - 1 + size) / this.meta.pageBytes) + 1;
    if (number + pages - 1 > this.meta.lastPage) this.fail(from, "a large value lies outside the file");
    for (let one = number; one < number + pages; one++) this.claimUsed(one);
    counts.overflows += pages;
    const { head } = this;
    const length = readSync(this.file, head, 0, headerBytes, number * this.meta.pageBytes);
    if (length < headerBytes) throw new PageDamage(`page ${number} is cut off`);
    if (uint64(head, 0) !== number || head.readUInt16LE(flagsAt) !== overflowFlag) {
      this.fail(number, "it doesn't begin a large value");
    }
    if (head.readUInt32LE(20) !== pages) this.fail(number, "its large value has another length");
  }

  /**
   * Checks a list of free pages: the number of entries, and the entries. A positive entry is the number of a page, which must not
   * belong to a tree; a negative one is the number of pages from the next entry on; 0 is an entry that was used.
   */
  private freePages(number: number, list: Buffer): void {
    const count = list.length < 8 ? -1 : uint64(list, 0);
    if (count < 0 || (count + 1) * 8 > list.length) this.fail(number, "its list of free pages is cut off");
    for (let index = 1, run = 1; index <= count; index++) {
      const entry = Number(list.readBigInt64LE(index * 8));
      if (entry < -this.meta.lastPage) this.fail(number, "its list of free pages is damaged");
      for (let free = entry; entry > 0 && free < entry + run; free++) this.claim(free);
      run = entry < 0 ? -entry : 1;
    }
  }

  private valueOf(first: number, size: number): Buffer {
    const value = Buffer.allocUnsafe(size);
    const length = readSync(this.file, value, 0, size, first * this.meta.pageBytes + headerBytes);
    if (length < size) throw new PageDamage(`page ${first} is cut off`);
    return value;
  }

  /** Marks a page with content, which must be within the file. */
  private claimUsed(number: number): void {
    if (number >= this.filePages) throw new PageDamage(`page ${number} is cut off`);
    this.claim(number);
  }

  /** Marks a page; each page may occur once in one tree. */
  private claim(number: number): void {
    if (number < 2 || number > this.meta.lastPage)
      throw new PageDamage(`page ${number} lies outside the file`);
    if (this.seen[number] === 1) this.fail(number, "two others lead to it");
    this.seen[number] = 1;
    if (++this.claims % reportEveryPages === 0)
      this.progress("checking pages", this.claims / this.seen.length);
  }

  /** Reads a page into a buffer and returns it. */
  private read(number: number, page: Buffer): Buffer {
    const length = readSync(this.file, page, 0, this.meta.pageBytes, number * this.meta.pageBytes);
    if (length < this.meta.pageBytes) throw new PageDamage(`page ${number} is cut off`);
    return page;
  }

  private fail(number: number, why: string): never {
    throw new PageDamage(`page ${number} is damaged: ${why}`);
  }
}

/** A key on a page. */
interface Key {
  readonly page: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Range of the keys of a page: lower bound (inclusive) and upper bound (exclusive); undefined without a bound. */
interface Bounds {
  readonly lower: Key | undefined;
  readonly upper: Key | undefined;
}

/** Whether a key sorts before another. Faster than Buffer.compare for many short keys. */
function isKeyBelow(one: Key, other: Key): boolean {
  const oneLength = one.end - one.start;
  const otherLength = other.end - other.start;
  const length = Math.min(oneLength, otherLength);
  for (let index = 0; index < length; index++) {
    const difference = one.page[one.start + index]! - other.page[other.start + index]!;
    if (difference !== 0) return difference < 0;
  }
  return oneLength < otherLength;
}

function isNumberBelow(one: Key, other: Key): boolean {
  return uint64(one.page, one.start) < uint64(other.page, other.start);
}

interface Counts {
  branches: number;
  leaves: number;
  overflows: number;
  entries: number;
}

/** Returns the child page of a branch node: 48 bits, the upper 16 of them in the flags field. */
function childOf(page: Buffer, at: number): number {
  return page.readUInt32LE(at) + page.readUInt16LE(at + 4) * 0x1_0000_0000;
}
