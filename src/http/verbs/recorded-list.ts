import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";
import type { Encoding, ListWriter } from "../encodings/encoding.ts";
import type { AuditHooks } from "../request/audit-hooks.ts";
import type { RequestContext } from "../request/context.ts";

/** Writes a list in an encoding, and in JSON for the audit if it records responses. */
export function recordedList({ audit }: RequestContext, encoding: Encoding): ListWriter {
  const writer = encoding.list();
  return audit?.wantsResponse === true ? recorded(writer, encoding.inJson?.list(), audit) : writer;
}

/** @param inJson writes the list in JSON; undefined if the writer does. */
function recorded(writer: ListWriter, inJson: ListWriter | undefined, audit: AuditHooks): ListWriter {
  // A measured list is written twice.
  let ended = false;
  return {
    *page(page: ListedPage) {
      if (inJson !== undefined && !ended) for (const part of inJson.page(page)) audit.responseObject(part);
      for (const part of writer.page(page)) {
        if (inJson === undefined && !ended) audit.responseObject(part);
        yield part;
      }
    },
    end(end: ListEnd) {
      const last = writer.end(end);
      if (!ended) audit.responseObject(inJson?.end(end) ?? last);
      ended = true;
      return last;
    },
    ...(writer.around === undefined ? {} : { around: (length: number) => writer.around!(length) }),
  };
}
