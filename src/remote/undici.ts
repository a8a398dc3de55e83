/** The parts of the HTTP client that connections to backends use, loaded with the first request. */
export { Agent, buildConnector } from "undici";
