/** A decoder of bytes from outside, and how it is tested with arbitrary input. */
export interface Target {
  /** Name of the corpus folder and of `--target`. */
  readonly name: string;
  /** Modules of the product that the target exercises, from the root of the project. Coverage is measured in them. */
  readonly files: readonly string[];
  /** Valid inputs from which the search starts. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Tokens of the format that mutations insert. */
  readonly dictionary: readonly string[];
  /** Largest input, in bytes; 4096 by default. */
  readonly maxBytes?: number;
  /** Calls the decoder and checks its properties. Throws if one is violated, or if the decoder throws an undocumented error. */
  run(bytes: Uint8Array): void | Promise<void>;
}

/** Tokens of JSON, for dictionaries. */
export const jsonTokens: readonly string[] = ['"', "{", "}", "[", "]", ":", ",", "null"];

/** The input as text; invalid UTF-8 becomes replacement characters. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** An error class. */
// oxlint-disable-next-line typescript/no-explicit-any
type ErrorClass = abstract new (...args: any) => Error;

/**
 * Calls a decoder.
 *
 * @param documented the classes of the errors that the decoder reports invalid input with; subclasses are other errors.
 * @returns the result, or undefined if the decoder rejected the input with a documented error.
 * @throws {unknown} any other error.
 */
export function attempt<T>(decode: () => T, ...documented: readonly ErrorClass[]): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (isDocumented(error, documented)) return undefined;
    throw error;
  }
}

/** {@link attempt} for a decoder that returns a promise. */
export async function attemptAsync<T>(
  decode: () => T | Promise<T>,
  ...documented: readonly ErrorClass[]
): Promise<T | undefined> {
  try {
    return await decode();
  } catch (error) {
    if (isDocumented(error, documented)) return undefined;
    throw error;
  }
}

function isDocumented(error: unknown, documented: readonly ErrorClass[]): boolean {
  return documented.some((one) => error instanceof Error && error.constructor === one);
}

/** @throws {Error} unless both values have the same JSON. */
export function expectSame(actual: unknown, expected: unknown, subject: string): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${subject} differ: ${clip(a)} and ${clip(b)}`);
}

function clip(text: string | undefined): string {
  return text === undefined ? "undefined" : text.length > 300 ? `${text.slice(0, 300)} …` : text;
}
