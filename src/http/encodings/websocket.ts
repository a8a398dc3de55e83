import { webSocketFrame } from "../transport/websocket-frames.ts";
import type { WatchEncoding, WatchFrames } from "./encoding.ts";

/** Bytes of the length in front of a binary event of other watches. */
const lengthBytes = 4;

/**
 * Returns an encoding whose frames are frames of a WebSocket: of text for JSON, else binary and without the length in front of the event.
 */
export function webSocketEncoding(encoding: WatchEncoding): WatchEncoding {
  const isText = encoding.watchContentType === "application/json";
  // A binary sequence of another form has no length in front of its items.
  const skipBytes = encoding.watchContentType.endsWith(";stream=watch") ? lengthBytes : 0;
  const pack = (event: Uint8Array) =>
    webSocketFrame(isText ? "text" : "binary", skipBytes === 0 ? event : event.subarray(skipBytes));
  const framesOf = (frames: WatchFrames): WatchFrames => ({
    key: `websocket ${frames.key}`,
    ...(frames.varies === true ? { varies: true } : {}),
    object: (body) => frames.object(body),
    frame: (type, body) => pack(frames.frame(type, body)),
    bookmark: (metadata) => pack(frames.bookmark(metadata)),
  });
  return {
    ...framesOf(encoding),
    contentType: encoding.contentType,
    watchContentType: encoding.watchContentType,
    ...(encoding.later === undefined ? {} : { later: framesOf(encoding.later) }),
    list: () => encoding.list(),
    error: (status) => pack(encoding.error(status)),
  };
}
