/** A program over a client library. */
export interface ClientProgram {
  readonly id: string;
  readonly clients: string;
  readonly does: string;
  readonly release: string;
  readonly tool: readonly string[];
}

export const programs: readonly ClientProgram[];
export function rowsOf(page: string): Map<string, string[]>;
