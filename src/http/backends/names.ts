import { StatusError } from "../../base/status-error.ts";

/** The target in the path of a proxied request: `name`, `name:port` or `scheme:name:port`. */
export interface Place {
  readonly scheme: "http" | "https";
  readonly name: string;
  /** Empty if the path has none. */
  readonly port: string;
}

/**
 * Parses the name in a path.
 *
 * @param what type of object, for the error.
 * @throws {StatusError} BadRequest
 */
export function parsePlace(text: string, what: string): Place {
  const parts = text.split(":");
  const scheme = parts.length < 3 ? "" : parts.shift()!;
  const [name = "", port = ""] = parts;
  const hasValidScheme = scheme === "" || scheme === "http" || scheme === "https";
  if (!hasValidScheme || name === "" || parts.length > 2) throw invalidPlace(text, what);
  return { scheme: scheme === "https" ? "https" : "http", name, port };
}

export function invalidPlace(text: string, what: string): StatusError {
  const forms = "a request is for name, name:port or scheme:name:port, with the scheme http or https";
  return new StatusError("BadRequest", `invalid ${what} request ${JSON.stringify(text)}: ${forms}`);
}

/** Parses a port number; undefined for other texts. */
export function portNumber(text: string): number | undefined {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= 65_535 ? value : undefined;
}
