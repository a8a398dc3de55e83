/** Splits a stream of text into lines. */
export class LineSplitter {
  private rest: string[] = [];

  /** Adds a part of the stream and returns the lines that it completes. */
  add(part: string): string[] {
    const pieces = part.split("\n");
    if (pieces.length === 1) {
      this.rest.push(part);
      return [];
    }
    this.rest.push(pieces[0]!);
    const lines = [this.rest.join(""), ...pieces.slice(1, -1)];
    this.rest = [pieces.at(-1)!];
    return lines.filter((line) => line !== "");
  }
}
