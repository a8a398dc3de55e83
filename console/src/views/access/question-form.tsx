import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ResourceAction } from "../../api/access.ts";
import { messageOf } from "../../api/client.ts";
import type { Subject } from "../../api/insight.ts";
import { verbs } from "../../model/verb-marks.ts";
import { fullName, matchingTypes } from "../../model/resource-types.ts";
import { EmptyState, Failure as FailureMessage } from "../../parts/states.tsx";
import { serverTypes } from "../../state/session.ts";

/** A question, as the place has it. */
export type Query = Readonly<Record<string, string>>;

export interface QuestionProps {
  readonly query: Query;
  readonly onAsk: (query: Query) => void;
}

/** A field of the form: its name in the place, its label, and an example. */
type Field = readonly [name: string, label: string, example: string];

const fields: Readonly<Record<string, Field>> = {
  user: ["user", "User", "ann, or system:serviceaccount:team-a:default"],
  groups: ["groups", "Groups", "team-a, on-call"],
  verb: ["verb", "Verb", "update"],
  resource: ["resource", "Resource", "configmaps"],
  namespace: ["namespace", "Namespace", "all"],
  namespaces: ["namespace", "Namespaces", "all as one; team-a, team-b; or * for each"],
  name: ["name", "Name", "any"],
};

interface FormProps extends QuestionProps {
  readonly names: readonly string[];
  /** Text of the button. */
  readonly label?: string;
}

/** The form of a question. */
export function QuestionForm({ query, onAsk, names, label: action = "Ask" }: FormProps) {
  return (
    <form
      class="question"
      key={JSON.stringify(query)}
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        onAsk(
          Object.fromEntries(
            names.map((one) => {
              const [name] = fields[one]!;
              return [name, String(data.get(name) ?? "").trim()];
            }),
          ),
        );
      }}
    >
      {names.map((one) => {
        const [name, label, example] = fields[one]!;
        return (
          <label key={name}>
            {label}
            <input
              name={name}
              defaultValue={query[name] ?? ""}
              placeholder={example}
              autocomplete="off"
              spellcheck={false}
              list={name === "resource" ? "resources" : name === "verb" ? "verbs" : undefined}
            />
          </label>
        );
      })}
      <datalist id="resources">
        {serverTypes.value.types.map((type) => (
          <option key={fullName(type)} value={fullName(type)} />
        ))}
      </datalist>
      <datalist id="verbs">
        {verbs.map((verb) => (
          <option key={verb} value={verb} />
        ))}
      </datalist>
      <button type="submit" class="primary">
        {action}
      </button>
    </form>
  );
}

/** Returns the user of a question, with the groups that every user of the kind has. */
export function subjectOf({ user = "", groups = "" }: Query): Subject {
  const parts = user.split(":");
  const isAccount = user.startsWith("system:serviceaccount:") && parts.length === 4;
  const ofAccounts = isAccount ? ["system:serviceaccounts", `system:serviceaccounts:${parts[2]}`] : [];
  return { user, groups: [...splitWords(groups), ...ofAccounts, "system:authenticated"] };
}

/** Returns the words of a text that are separated by commas or spaces. */
export function splitWords(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

/** Returns the action of a question. A resource is a name, short name or `NAME.GROUP`, with a subresource after a slash. */
export function actionOf({ verb = "", resource = "", namespace = "", name = "" }: Query): ResourceAction {
  const [word = "", subresource = ""] = resource.split("/", 2);
  const type = matchingTypes(serverTypes.value.types, word).find(
    (one) => fullName(one) === word || one.name === word || one.shortNames.includes(word),
  );
  const dot = word.indexOf(".");
  const plain =
    dot === -1 ? { name: word, group: "" } : { name: word.slice(0, dot), group: word.slice(dot + 1) };
  const { name: resourceName, group } = type ?? plain;
  return {
    verb,
    group,
    resource: resourceName,
    ...(subresource !== "" && { subresource }),
    ...(namespace !== "" && { namespace }),
    ...(name !== "" && { name }),
  };
}

/** Asks when the question is complete, and again when it changes. @returns the answer; a message if it failed. */
export function useAnswer<T>(
  query: Query,
  needed: readonly string[],
  ask: () => Promise<T>,
): T | string | undefined {
  const answer = useSignal<T | string | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    answer.value = undefined;
    if (needed.some((name) => (query[name] ?? "") === "")) return undefined;
    ask()
      .then((result) => {
        if (isCurrent) answer.value = result;
      })
      .catch((error: unknown) => {
        if (isCurrent) answer.value = messageOf(error);
      });
    return () => {
      isCurrent = false;
    };
  }, [JSON.stringify(query)]);
  return answer.value;
}

/** Shows a failed question. A user without the right to ask sees which one it is, and what they may ask instead. */
export function Failure({ message }: { readonly message: string }) {
  if (!message.includes(" is forbidden: ") && !/ cannot [a-z]+ resource /.test(message))
    return <FailureMessage message={message} />;
  return (
    <EmptyState title="You may not ask this about others">
      <p>
        An administrator can give you the ClusterRole system:insight-viewer, for the graph the right to list
        roles and bindings. <a href="#/access/mine">Your own rights</a> are always yours to see.
      </p>
      <p class="note">The server says: {message}</p>
    </EmptyState>
  );
}
