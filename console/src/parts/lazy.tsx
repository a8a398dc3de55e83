import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { messageOf } from "../api/client.ts";

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
  if (value === undefined) return <p class="page note">Loading…</p>;
  if (typeof value === "string") return <p class="page bad">{value}</p>;
  const Loaded = value.type;
  return <Loaded {...props} />;
}
