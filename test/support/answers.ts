import type { Answer } from "./api.ts";
import { settle } from "./manual-clock.ts";

/** Waits until a condition is true; the test's timeout ends the wait. */
export async function until<T>(read: () => Promise<T> | T, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    await settle();
  }
}

/** Returns a successful response; otherwise fails the test with the server's message. */
export async function ok(answer: Promise<Answer>): Promise<Answer> {
  const got = await answer;
  if (got.status >= 300) throw new Error(`${got.status}: ${got.text}`);
  return got;
}
