import { readCertificates } from "../../api/certificates.ts";
import { ObjectLink } from "../../parts/object-link.tsx";
import { StateText } from "../../parts/state-text.tsx";
import { Time } from "../../parts/time.tsx";
import { serverTypes } from "../../state/session.ts";
import { useAsync } from "../../state/use-async.ts";
import { Card } from "./card.tsx";

const shownCertificates = 6;
/** Certificates that expire within this time need attention. */
const soonMs = 30 * 24 * 3_600_000;

/** The certificates that expire first. */
export function Certificates() {
  const answer = useAsync(
    async (signal) => ({ list: await readCertificates(serverTypes.value, signal) }),
    [],
  );
  return (
    <Card title="Certificates" answer={answer}>
      {({ list }) =>
        list.length === 0 ? (
          <p class="note">
            Certificates of the server, of TLS secrets and of requests are here with their expiry.
          </p>
        ) : (
          <ul class="feed">
            {list.slice(0, shownCertificates).map(({ title, object, expiresMs }) => {
              const leftMs = expiresMs - Date.now();
              return (
                <li key={`${title} ${object?.namespace ?? ""}`}>
                  <Time at={new Date(expiresMs).toISOString()} />
                  <span>
                    {leftMs < soonMs && (
                      <StateText
                        text={leftMs < 0 ? "expired" : "expires soon"}
                        tone={leftMs < 0 ? "bad" : "waiting"}
                      />
                    )}{" "}
                    {object === undefined ? title : <ObjectLink {...object} />}{" "}
                    <span class="note">{object?.namespace}</span>
                  </span>
                </li>
              );
            })}
          </ul>
        )
      }
    </Card>
  );
}
