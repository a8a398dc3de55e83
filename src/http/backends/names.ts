import { StatusError } from "../../base/status-error.ts";

/** What a path names as the other end of a proxied request: `name`, `name:port` or `scheme:name:port`. */
export interface Place {
  readonly scheme: "http" | "https";
  readonly name: string;
  /** Empty when none is named. */
  readonly port: string;
}

/**
 * Reads the name in a path.
 *
 * @param what the sort of object, for the refusal.
 * @throws {StatusError} BadRequest
 */
export function parsePlace(text: string, what: string): Place {
  const parts = text.split(":");
  const scheme = parts.length < 3 ? "" : parts.shift()!;
  const [name = "", port = ""] = parts;
  const known = scheme === "" || scheme === "http" || scheme === "https";
  if (!known || name === "" || parts.length > 2) throw invalidPlace(text, what);
  return { scheme: scheme === "https" ? "https" : "http", name, port };
}

export function invalidPlace(text: string, what: string): StatusError {
  const forms = "a request is for name, name:port or scheme:name:port, with the scheme http or https";
  return new StatusError("BadRequest", `invalid ${what} request ${JSON.stringify(text)}: ${forms}`);
}

/** The number that a port's text says; undefined when it says none. */
export function portNumber(text: string): number | undefined {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= 65_535 ? value : undefined;
}
