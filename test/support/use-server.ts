import { afterAll, beforeAll } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import { TestServer } from "./api.ts";

/** Starts a server before the tests of the file, or of the enclosing `describe`, and closes it after them. */
export function useServer(options: CreateServerOptions = {}): TestServer {
  const server = TestServer.unstarted(options);
  beforeAll(() => server.start());
  afterAll(() => server.close());
  return server;
}
