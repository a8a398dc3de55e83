/** A tab: its name in the place, its title, and its key. */
export type Tab = readonly [name: string, title: string, key: string];

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** Name of the current tab; its panel has the id `tab-panel`. */
  readonly current: string;
  readonly onShow: (name: string) => void;
}

/** A row of tabs above a panel. */
export function Tabs({ label, tabs, current, onShow }: TabsProps) {
  return (
    <div class="tabs" role="tablist" aria-label={label}>
      {tabs.map(([name, title]) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={current === name}
          aria-controls="tab-panel"
          onClick={() => onShow(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
