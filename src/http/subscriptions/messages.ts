import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { bodyOf, type WatchChange } from "../../resources/reads/watch.ts";
import type { Revision } from "../../storage/store.ts";
import type { WatchEncoding } from "../encodings/encoding.ts";
import { sharedFrames } from "../verbs/watch-frames.ts";

/** Form of the messages: a line of JSON each, or server-sent events. */
export type MessageForm = "lines" | "events";

/** A message without the JSON of its object, which is between head and tail. */
interface Envelope {
  readonly head: string;
  readonly tail: string;
}

/**
 * Returns the envelope of a message.
 *
 * @param resumeAfter the revision to resume after; undefined if a client can't resume after this message.
 * @param members further members, as JSON with a comma in front.
 */
function envelope(
  form: MessageForm,
  type: string,
  resumeAfter: Revision | undefined,
  members: string,
): Envelope {
  const resume = resumeAfter === undefined ? "" : `,"resumeAfter":"${resumeAfter}"`;
  const json = `{"type":"${type}"${resume}${members}`;
  if (form === "lines") return { head: json, tail: "}\n" };
  const id = resumeAfter === undefined ? "" : `id: ${resumeAfter}\n`;
  return { head: `${id}event: ${type}\ndata: ${json}`, tail: "}\n\n" };
}

/** Returns a message without an object of a resource type. */
export function message(
  form: MessageForm,
  type: "BOOKMARK" | "COLUMNS" | "ERROR",
  resumeAfter: Revision | undefined,
  members: Readonly<Record<string, JsonValue>>,
): Buffer {
  const further = Object.entries(members).map(([name, value]) => `,"${name}":${encodeJson(value)}`);
  const { head, tail } = envelope(form, type, resumeAfter, further.join(""));
  return Buffer.from(head + tail);
}

/** A comment, which clients ignore. It keeps a connection alive on which nothing happens. */
export const keepAliveComment = Buffer.from(": \n\n");

/** Encodes the events of one resource type of a subscription. Encoders with equal keys encode equally. */
export class EntryMessages {
  readonly key: string;
  /** See {@link WatchEncoding.varies}. */
  readonly varies?: true;
  private readonly members: string;
  private readonly object: (body: Uint8Array) => Uint8Array;

  /**
   * @param index index of the resource type in the request.
   * @param resource its name in messages.
   */
  constructor(
    private readonly form: MessageForm,
    index: number,
    resource: string,
    encoding: WatchEncoding,
  ) {
    this.members = `,"watch":${index},"resource":${JSON.stringify(resource)},"object":`;
    this.key = `${form} ${index} ${resource} ${encoding.key}`;
    const frames = encoding.later ?? encoding;
    if (frames.varies === true) this.varies = true;
    this.object = (body) => frames.object(body);
  }

  /** Encodes an event of the initial state. */
  frame(type: string, body: Uint8Array): Uint8Array {
    return Buffer.concat(this.parts(type, undefined, body));
  }

  /**
   * Encodes consecutive events; subscriptions with the same events and encoder key share them.
   *
   * @param complete whether a client may resume after the last one. After an earlier one it may if the next one has another revision.
   */
  events(changes: readonly WatchChange[], complete: boolean): Uint8Array {
    return sharedFrames(changes, complete ? this.key : `${this.key} incomplete`, () =>
      Buffer.concat(
        changes.flatMap((change, index) => {
          const { revision } = change.event;
          const next = changes[index + 1]?.event.revision;
          const isLast = next === undefined ? complete : next !== revision;
          return this.parts(change.type, isLast ? revision : undefined, bodyOf(change));
        }),
      ),
    );
  }

  private parts(type: string, resumeAfter: Revision | undefined, body: Uint8Array): Uint8Array[] {
    const { head, tail } = envelope(this.form, type, resumeAfter, this.members);
    return [Buffer.from(head), this.object(body), Buffer.from(tail)];
  }
}
