/**
 * Names of the subresources that open a connection, such as `exec`. Such a request can last as long as its peers want,
 * so limits, metrics and audit treat it separately. The list equals the subresources that kinds declare with the shape
 * `connect`, without loading the kinds; a test compares them.
 */
export const connectingSubresources: ReadonlySet<string> = new Set([
  "attach",
  "exec",
  "log",
  "portforward",
  "proxy",
]);
