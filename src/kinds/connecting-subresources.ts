/**
 * Names of the subresources that connect to what an object stands for. A request for one lasts as long as its peers like, so
 * limits, metrics and audit treat it apart. The same as those that the kinds declare with shape `connect`, without loading
 * the kinds; a test compares them.
 */
export const connectingSubresources: ReadonlySet<string> = new Set([
  "attach",
  "exec",
  "log",
  "portforward",
  "proxy",
]);
