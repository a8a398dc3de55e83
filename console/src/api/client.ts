import { workspacePath } from "../model/workspaces.ts";

/** A failed request. */
export class ApiError extends Error {
  override name = "ApiError";
  constructor(
    readonly status: number,
    message: string,
    /** The Status object of the response; undefined if it isn't one. */
    readonly body: StatusBody | undefined,
  ) {
    super(message);
  }
}

/** The fields of a Status that the console reads. */
export interface StatusBody {
  readonly message?: string;
  readonly reason?: string;
  readonly details?: {
    readonly causes?: readonly {
      readonly reason?: string;
      readonly message?: string;
      readonly field?: string;
    }[];
  };
}

export interface RequestOptions {
  readonly method?: string;
  /** Sent as JSON, or as it is if it is a text. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /** Name of the workspace that serves the path, empty for the server itself; by default the one that the page shows. */
  readonly workspace?: string | undefined;
}

/** The name and groups of a user. */
export interface Identity {
  readonly name: string;
  readonly groups: readonly string[];
}

/** What the requests of a session are sent with. */
export interface Credentials {
  /** Undefined for the client certificate of the browser. */
  readonly token: string | undefined;
  /** The user to impersonate; undefined for none. */
  readonly asUser?: Identity | undefined;
}

const none: Credentials = { token: undefined };
/** The credentials of the session. They are only in this variable, never in a URL or in the page. */
let credentials = none;
/** Called when the server doesn't accept the credentials any more. */
let unauthorized: () => void = () => undefined;

/** Name of the workspace that the page shows; empty for the server. */
let currentWorkspace = "";

export function setCurrentWorkspace(name: string): void {
  currentWorkspace = name;
}

export function setCredentials(value: Credentials | undefined): void {
  credentials = value ?? none;
}

export function currentCredentials(): Credentials {
  return credentials;
}

export function onUnauthorized(handler: () => void): void {
  unauthorized = handler;
}

/**
 * Sends a request with the credentials of the session, to the workspace that the page shows.
 *
 * @throws {ApiError} for a status of 400 and above.
 * @throws {TypeError} if the server can't be reached.
 */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { workspace = currentWorkspace } = options;
  const response = await sendWith(credentials, `${workspacePath(workspace)}${path}`, options);
  if (response.ok) return response;
  if (response.status === 401) unauthorized();
  throw await errorOf(response);
}

/** Sends a request to the server with certain credentials. */
export function sendWith(
  { token, asUser }: Credentials,
  path: string,
  { method = "GET", body, contentType, accept = "application/json", signal }: RequestOptions = {},
): Promise<Response> {
  const headers = new Headers({ Accept: accept });
  if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
  if (asUser !== undefined) {
    headers.set("Impersonate-User", asUser.name);
    for (const group of asUser.groups) headers.append("Impersonate-Group", group);
  }
  if (body !== undefined) headers.set("Content-Type", contentType ?? "application/json");
  return fetch(path, {
    method,
    headers,
    body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
    signal: signal ?? null,
    credentials: "same-origin",
    cache: "no-store",
    redirect: "error",
  });
}

/** Returns the JSON of a response. @throws as {@link send}. */
export async function getJson<T>(path: string, options?: RequestOptions): Promise<T> {
  return (await (await send(path, options)).json()) as T;
}

export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  let body: StatusBody | undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) body = value;
  } catch {
    // Not a Status: the text itself is the message.
    body = undefined;
  }
  return new ApiError(response.status, body?.message ?? (text.slice(0, 500) || response.statusText), body);
}

/** Returns the message of any error for the user. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return "the server can't be reached";
  return error instanceof Error ? error.message : String(error);
}

/** Returns the text of a page, also of one that reports a failure with a status of 500. @throws as {@link send} */
export async function sendText(path: string, signal?: AbortSignal): Promise<string> {
  try {
    return await (await send(path, { accept: "text/plain", signal })).text();
  } catch (error) {
    if (error instanceof ApiError && error.status === 500) return error.message;
    throw error;
  }
}
