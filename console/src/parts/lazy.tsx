import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { Failure, Loading } from "./states.tsx";

interface LazyProps<P> {
  readonly load: () => Promise<ComponentType<P>>;
  readonly props: P;
}

/** A component that is loaded when it is first shown. */
export function Lazy<P extends object>({ load, props }: LazyProps<P>) {
  const component = useSignal<{ readonly type: ComponentType<P> } | string | undefined>(undefined);
  useEffect(() => {
    load()
      .then((type) => (component.value = { type }))
      .catch((error: unknown) => (component.value = messageOf(error)));
  }, []);
  const { value } = component;
  if (value === undefined) return <Loading label="Loading…" />;
  if (typeof value === "string")
    return (
      <Failure
        title="A part of the console can't be loaded"
        message={value}
        onRetry={() => location.reload()}
      />
    );
  const Loaded = value.type;
  return <Loaded {...props} />;
}
