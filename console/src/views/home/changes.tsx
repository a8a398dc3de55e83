import { getJson } from "../../api/client.ts";
import { inParallel } from "../../api/parallel.ts";
import type { MetadataList } from "../../model/metadata.ts";
import { newestWrite } from "../../model/managed-fields.ts";
import { fullName, isBrowsable, pathOf, type ResourceType } from "../../model/resource-types.ts";
import { ObjectLink } from "../../parts/object-link.tsx";
import { Time } from "../../parts/time.tsx";
import { serverTypes } from "../../state/session.ts";
import { useAsync } from "../../state/use-async.ts";
import { Card } from "./card.tsx";

/** Kinds with more objects are left out, and kinds beyond the other number too. */
const [maxObjects, maxTypes] = [200, 40];
const shownChanges = 8;
/** Kinds that change all the time by themselves. */
const busy = new Set(["events", "leases", "endpoints", "endpointslices", "componentstatuses"]);

interface Change {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly time: string;
  readonly manager: string;
}

async function readChanges(
  counts: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<{ readonly changes: readonly Change[] }> {
  const { types, groupSuffix } = serverTypes.value;
  const accept = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${groupSuffix}`;
  const read = types.filter((type) => {
    const count = counts.get(fullName(type)) ?? 0;
    return isBrowsable(type) && !busy.has(type.name) && count > 0 && count <= maxObjects;
  });
  const changes: Change[] = [];
  await inParallel(read.slice(0, maxTypes), 4, async (type) => {
    const list = await getJson<MetadataList>(`${pathOf(type, "")}?limit=${maxObjects}`, { accept, signal });
    for (const { metadata } of list.items) {
      const { name, namespace = "", creationTimestamp } = metadata;
      const { time, manager } = newestWrite(metadata.managedFields ?? []) ?? {
        time: creationTimestamp ?? "",
        manager: "",
      };
      changes.push({ type, namespace, name, time, manager });
    }
  });
  const ordered = changes.toSorted((one, other) =>
    one.time < other.time ? 1 : one.time > other.time ? -1 : 0,
  );
  return { changes: ordered.slice(0, shownChanges) };
}

/** The objects that were changed last, and by which program. */
export function Changes({ counts }: { readonly counts: ReadonlyMap<string, number> }) {
  const answer = useAsync((signal) => readChanges(counts, signal), [counts]);
  return (
    <Card title="Newest changes" answer={answer}>
      {({ changes }) =>
        changes.length === 0 ? (
          <p class="note">Objects that were changed last are shown here.</p>
        ) : (
          <ul class="feed">
            {changes.map(({ type, namespace, name, time, manager }) => (
              <li key={`${fullName(type)} ${namespace} ${name}`}>
                <Time at={time} />
                <span>
                  <ObjectLink type={type} namespace={namespace} name={name} />{" "}
                  <span class="note">
                    {namespace} {manager !== "" && `by ${manager}`}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Card>
  );
}
