import { Session, type Profiler } from "node:inspector";

/** Covered bytes of the source of one script; 1 where a range that contains the byte has been executed. */
type CoveredBytes = Uint8Array;

/** Measures which parts of some modules have been executed, in this thread. */
export class Coverage {
  private readonly session = new Session();
  private readonly scripts = new Map<string, CoveredBytes>();
  private ranges = 0;

  /** @param files modules of the product, from the root of the project. */
  constructor(private readonly files: readonly string[]) {
    this.session.connect();
    this.post("Profiler.enable");
    this.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** Number of ranges that were executed for the first time. */
  get coveredRanges(): number {
    return this.ranges;
  }

  /** Number of modules of which something was executed. */
  get coveredFiles(): number {
    return this.scripts.size;
  }

  /**
   * Reads what was executed since the last call.
   *
   * @param remember whether executed ranges count as covered from now on.
   * @returns whether something was executed that wasn't covered before.
   */
  take(remember: boolean): boolean {
    let isNew = false;
    for (const { url, functions } of this.executed()) {
      for (const { ranges } of functions) {
        if (this.takeFunction(url, ranges, remember)) isNew = true;
      }
    }
    return isNew;
  }

  close(): void {
    this.post("Profiler.stopPreciseCoverage");
    this.session.disconnect();
  }

  private executed(): readonly Profiler.ScriptCoverage[] {
    let result: readonly Profiler.ScriptCoverage[] = [];
    this.session.post("Profiler.takePreciseCoverage", (error, taken) => {
      // The session is in this thread: the callback is called before `post` returns.
      if (error !== null) throw error;
      result = taken.result;
    });
    return result.filter(({ url }) => this.files.some((file) => url.split("?")[0]!.endsWith(`/${file}`)));
  }

  private takeFunction(url: string, ranges: readonly Profiler.CoverageRange[], remember: boolean): boolean {
    let isNew = false;
    for (const { start, end } of executedSegments(ranges)) {
      const covered = this.coveredBytes(url, end);
      const first = covered.indexOf(0, start);
      if (first < 0 || first >= end) continue;
      isNew = true;
      if (!remember) return true;
      covered.fill(1, start, end);
      this.ranges++;
    }
    return isNew;
  }

  private coveredBytes(url: string, end: number): CoveredBytes {
    const covered = this.scripts.get(url);
    if (covered !== undefined && covered.length > end) return covered;
    const larger = new Uint8Array(2 * end + 1024);
    if (covered !== undefined) larger.set(covered);
    this.scripts.set(url, larger);
    return larger;
  }

  private post(method: "Profiler.enable" | "Profiler.stopPreciseCoverage"): void;
  private post(method: "Profiler.startPreciseCoverage", params: object): void;
  private post(method: string, params: object = {}): void {
    this.session.post(method, params, (error) => {
      if (error !== null) throw error;
    });
  }
}

/** A part of a script. */
interface Segment {
  readonly start: number;
  readonly end: number;
}

/** The parts of a function that were executed. Its ranges are nested: the count of a byte is that of the innermost range. */
function executedSegments(ranges: readonly Profiler.CoverageRange[]): Segment[] {
  if (ranges.length === 1) {
    const { startOffset, endOffset, count } = ranges[0]!;
    return count > 0 ? [{ start: startOffset, end: endOffset }] : [];
  }
  const segments: Segment[] = [];
  const open: Profiler.CoverageRange[] = [];
  let at = 0;
  const advance = (to: number) => {
    if (to > at && (open.at(-1)?.count ?? 0) > 0) segments.push({ start: at, end: to });
    at = to;
  };
  const closeUntil = (offset: number) => {
    while (open.length > 0 && open.at(-1)!.endOffset <= offset) {
      advance(open.at(-1)!.endOffset);
      open.pop();
    }
  };
  for (const range of ranges) {
    closeUntil(range.startOffset);
    advance(range.startOffset);
    open.push(range);
  }
  closeUntil(Number.POSITIVE_INFINITY);
  return segments;
}
