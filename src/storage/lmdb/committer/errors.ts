import {
  StoreClosedError,
  StoreDamagedError,
  StoreError,
  StoreFullError,
  StoreTimeoutError,
  StoreUnavailableError,
} from "../../store.ts";
import type { SentError } from "./frames.ts";

const classes: readonly (new (message: string) => StoreError)[] = [
  StoreFullError,
  StoreTimeoutError,
  StoreClosedError,
  StoreUnavailableError,
  StoreDamagedError,
];

/** Returns the form of an error that is sent to another process. */
export function sentError(error: unknown): SentError {
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: "Error", message: String(error) };
}

/** Returns the error of another process. Errors that aren't store errors are bugs of that process and keep their message. */
export function receivedError({ name, message }: SentError): Error {
  const match = classes.find((one) => one.name === name);
  if (match !== undefined) return new match(message);
  return name === "StoreError" ? new StoreError(message) : new Error(message);
}
