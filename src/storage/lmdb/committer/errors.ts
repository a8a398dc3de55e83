import {
  StoreClosedError,
  StoreDamagedError,
  StoreError,
  StoreFullError,
  StoreTimeoutError,
  StoreUnavailableError,
  StoreValueError,
} from "../../store.ts";
import type { SentError } from "./messages.ts";

/** The classes whose errors are received with their class; other store errors are received as {@link StoreError}. */
const classes: readonly (new (message: string) => StoreError)[] = [
  StoreFullError,
  StoreTimeoutError,
  StoreClosedError,
  StoreUnavailableError,
  StoreDamagedError,
];

/** Returns the form of an error that is sent to another process. */
export function sentError(error: unknown): SentError {
  if (error instanceof StoreValueError) {
    const { name, key, reason } = error;
    return { name, message: reason, key, isStoreError: true };
  }
  return error instanceof Error
    ? { name: error.name, message: error.message, isStoreError: error instanceof StoreError }
    : { name: "Error", message: String(error), isStoreError: false };
}

/** Returns the error of another process. Errors that aren't store errors are bugs of that process and keep their message. */
export function receivedError({ name, message, key, isStoreError }: SentError): Error {
  if (key !== undefined) return new StoreValueError(key, message);
  const match = classes.find((one) => one.name === name) ?? (isStoreError ? StoreError : Error);
  return new match(message);
}
