import type { ChildProcess } from "node:child_process";

/** A connection in the form in which Node's cluster module passes it to a worker. */
interface Handle {
  close(): void;
}

/** The fields of Node's own messages between the processes of a cluster that matter here. */
interface ClusterMessage {
  readonly act?: unknown;
  /** Number of a message. */
  readonly seq?: unknown;
  /** Number of the message that this one answers. */
  readonly ack?: unknown;
}

/**
 * Closes the connections of a worker that ends before it has answered whether it takes them. The cluster module keeps them open in the parent
 * process, so their clients would wait for ever. Another worker can't serve them: this one may have read a part of a request.
 */
export function closeUntakenConnections(child: ChildProcess): void {
  // It couldn't be created.
  if (child.pid === undefined) return;
  const untaken = new Map<unknown, Handle>();
  const send = child.send.bind(child) as (message: unknown, handle?: Handle, ...rest: unknown[]) => boolean;
  const sendAndNote: typeof send = (message, handle, ...rest) => {
    const { act, seq } = message as ClusterMessage;
    if (act === "newconn" && handle !== undefined) untaken.set(seq, handle);
    return send(message, handle, ...rest);
  };
  child.send = sendAndNote as ChildProcess["send"];
  child.on("internalMessage", ({ ack }: ClusterMessage) => {
    if (ack !== undefined) untaken.delete(ack);
  });
  // Node reads what the worker had sent before it reports the end; it may never report that the channel is closed.
  child.once("exit", () => {
    for (const handle of untaken.values()) handle.close();
    untaken.clear();
  });
}
