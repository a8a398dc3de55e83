import { afterAll, beforeAll } from "vitest";
import { TestServer, type TestServerOptions } from "./api.ts";

/** Starts a server before the tests of the file, or of the enclosing `describe`, and closes it after them. */
export function useServer(options: TestServerOptions = {}): TestServer {
  const server = TestServer.unstarted(options);
  beforeAll(() => server.start());
  afterAll(() => server.close());
  return server;
}
