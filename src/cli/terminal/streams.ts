import type { Progress } from "../../storage/lmdb/progress.ts";

/** The input and outputs of a command. */
export interface Streams {
  readonly readInput: () => Promise<Uint8Array>;
  readonly writeOutput: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly progress?: Progress;
}

/** Reads all of standard input. */
export async function readInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
