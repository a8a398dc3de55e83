/** Causes of a failed connection in the words of gRPC, OpenSSL and Node, and what they mean for the operator. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, "nothing listens there; check --etcd-servers, and whether etcd runs"],
  [/Name resolution failed|ENOTFOUND|EAI_AGAIN/, "the host name can't be resolved; check --etcd-servers"],
  [/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/, "the host can't be reached; check the network and --etcd-servers"],
  [
    /wrong version number|packet length too long/,
    "the server there speaks no TLS; use http:// in --etcd-servers if it is etcd",
  ],
  [
    /Protocol error|Received RST_STREAM|HTTP\/2|socket hang up|ECONNRESET/,
    "the server there closes the connection or isn't etcd; if it speaks TLS, use https:// in --etcd-servers",
  ],
  [
    /unable to verify|self[- ]signed certificate|unable to get (?:local )?issuer/,
    "its certificate is not signed by a trusted CA; name the CA with --etcd-cafile",
  ],
  [/certificate has expired/, "its certificate has expired"],
  [/Hostname\/IP does not match|altnames/, "its certificate is for another name than that in --etcd-servers"],
  [
    /certificate required|bad certificate|unknown ca|handshake failure/,
    "it refuses the client certificate; check --etcd-certfile and --etcd-keyfile",
  ],
];

/** Maximum length of a text of gRPC in a message. */
const maxLength = 300;

/** Returns the reason of a failed request to etcd: in plain words if it is known, with the text of the library in parentheses. */
export function plainReason(details: string): string {
  const text = details
    .replace(/^No connection established\. Last error: (?:Error: )?/, "")
    .replace(/ ?\(\d{4}-\d\d-\d\dT[\d:.]+Z\)/, "")
    .replace(/\.? Resolution note: $/, "")
    .trim()
    .slice(0, maxLength);
  const meaning = causes.find(([pattern]) => pattern.test(text))?.[1];
  return meaning === undefined ? text : `${meaning} (${text})`;
}

/** Limits of a member that a request can exceed, in the words of etcd and gRPC. */
const limits: readonly (readonly [RegExp, string])[] = [
  [
    /too many operations in txn request/,
    "it accepts fewer operations in a transaction than the store needs; start its members with --max-txn-ops=128, the default, or more",
  ],
  [
    /request is too large|received message larger than max/,
    "it doesn't accept a request of this size; start its members with a larger --max-request-bytes; the default is 1572864",
  ],
];

/** Returns the limit of etcd that a rejected request exceeds, and how to raise it; undefined if the request failed for another reason. */
export function exceededLimit(details: string): string | undefined {
  const meaning = limits.find(([pattern]) => pattern.test(details))?.[1];
  return meaning === undefined ? undefined : `${meaning} (${details.slice(0, maxLength)})`;
}
