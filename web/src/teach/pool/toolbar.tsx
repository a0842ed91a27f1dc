/** How the pool is sorted, and which trajectories are shown. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { FeatureRange, PoolPage } from "../../api";
import { formatNumber } from "../../format";
import { ALL, type Filters, isFiltered, type PoolState, type Range } from "./pool-state";

const SORTS = { index: "Number", id: "Name", reward: "Reward", std: "Uncertainty", shown: "Times shown" } as const;
const SHOWN = { any: "Shown or not", shown: "Shown in questions", never: "Never shown" } as const;

interface ToolbarProps {
  pool: PoolState;
  page: PoolPage;
  named: boolean; // the trajectories have ids
}

export function Toolbar({ pool, page, named }: ToolbarProps): JSX.Element {
  const filters = pool.filters.value;
  const set = (changes: Partial<Filters>): void => pool.set(changes);
  const [open, setOpen] = useState(isFiltered({ ...filters, text: "" }));
  return (
    <form class="pool-toolbar" role="search" aria-label="Search the pool" onSubmit={(event) => event.preventDefault()}>
      <label class="pool-field pool-search">
        Search
        <input
          type="search"
          value={filters.text}
          maxLength={200}
          placeholder="Name, number, note or tag"
          onInput={(event) => set({ text: event.currentTarget.value })}
        />
      </label>
      <Order filters={filters} features={page.features} named={named} set={set} />
      <button type="button" class="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        Filters <span aria-hidden="true">{open ? "▴" : "▾"}</span>
      </button>
      {isFiltered(filters) && (
        <button type="button" class="button" onClick={() => set({ ...ALL, sort: filters.sort, descending: filters.descending })}>
          Show all
        </button>
      )}
      {open && (
        <div class="pool-toolbar pool-filters">
          <Choice label="Tag" value={filters.tag} onChange={(tag) => set({ tag })}>
            <option value="">Any or none</option>
            {withCurrent(page.tags.map(({ tag }) => tag), filters.tag).map((tag) => (
              <option key={tag}>{tag}</option>
            ))}
          </Choice>
          <Choice label="Asked about" value={filters.shown} onChange={(shown) => set({ shown: shown as Filters["shown"] })}>
            {Object.entries(SHOWN).map(([word, name]) => (
              <option key={word} value={word}>
                {name}
              </option>
            ))}
          </Choice>
          <Ranges filters={filters} features={page.features} set={set} />
        </div>
      )}
    </form>
  );
}

/** A tag that is no longer in use stays in the list while it is what is searched for. */
function withCurrent(tags: string[], current: string): string[] {
  return current === "" || tags.includes(current) ? tags : [...tags, current];
}

interface OrderProps {
  filters: Filters;
  features: FeatureRange[];
  named: boolean;
  set: (changes: Partial<Filters>) => void;
}

/** Rewards and uncertainties are first wanted with the highest at the top. */
function Order({ filters, features, named, set }: OrderProps): JSX.Element {
  const onSort = (sort: string): void => set({ sort, descending: sort === "reward" || sort === "std" || sort === "shown" });
  return (
    <>
      <Choice label="Sort by" value={filters.sort} onChange={onSort}>
        {Object.entries(SORTS).map(([word, name]) => (named || word !== "id") && <option key={word} value={word}>{name}</option>)}
        {features.map(({ name }, place) => (
          <option key={name} value={`feature ${place}`}>
            {name}
          </option>
        ))}
      </Choice>
      <button
        type="button"
        class="button pool-direction"
        aria-pressed={filters.descending}
        aria-label="Highest first"
        title={filters.descending ? "The highest first" : "The lowest first"}
        onClick={() => set({ descending: !filters.descending })}
      >
        {filters.descending ? "↓" : "↑"}
      </button>
    </>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: JSX.Element | (JSX.Element | JSX.Element[] | false | (JSX.Element | false)[])[] | JSX.Element[];
}

function Choice({ label, value, onChange, children }: ChoiceProps): JSX.Element {
  return (
    <label class="pool-field">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {children}
      </select>
    </label>
  );
}

const NO_RANGE: Range = { low: "", high: "" };

/** A range of one feature after the other; those that are set are listed. */
function Ranges({ filters: { ranges }, features, set }: Pick<OrderProps, "filters" | "features" | "set">): JSX.Element {
  const [place, setPlace] = useState(0);
  const feature = features[place];
  const range = ranges.get(place) ?? NO_RANGE;
  const change = (changes: Partial<Range>): void => {
    const changed = new Map(ranges).set(place, { ...range, ...changes });
    const { low, high } = changed.get(place) ?? NO_RANGE;
    if (low === "" && high === "") changed.delete(place);
    set({ ranges: changed });
  };
  if (!feature) return <></>;
  return (
    <fieldset class="pool-ranges">
      <legend class="visually-hidden">Range of a feature</legend>
      <Choice label="Between" value={String(place)} onChange={(chosen) => setPlace(Number(chosen))}>
        {features.map(({ name }, i) => (
          <option key={name} value={i}>
            {ranges.has(i) ? `${name} •` : name}
          </option>
        ))}
      </Choice>
      {feature.levels.length > 0 ? (
        <Level levels={feature.levels} chosen={range.low} onChange={(level) => change({ low: level, high: level })} />
      ) : (
        <Limits feature={feature} range={range} onChange={change} />
      )}
    </fieldset>
  );
}

function Level({ levels, chosen, onChange }: { levels: string[]; chosen: string; onChange: (level: string) => void }): JSX.Element {
  return (
    <Choice label="Level" value={chosen} onChange={onChange}>
      <option value="">Any</option>
      {levels.map((level, i) => (
        <option key={level} value={i}>
          {level}
        </option>
      ))}
    </Choice>
  );
}

interface LimitsProps {
  feature: FeatureRange;
  range: Range;
  onChange: (changes: Partial<Range>) => void;
}

function Limits({ feature: { name, unit, low, high }, range, onChange }: LimitsProps): JSX.Element {
  const places = [
    { end: "low", label: "from", hint: low },
    { end: "high", label: "to", hint: high },
  ] as const;
  return (
    <>
      {places.map(({ end, label, hint }) => (
        <label class="pool-field pool-limit" key={end}>
          <span>
            {label} {unit}
          </span>
          <input
            type="number"
            step="any"
            value={range[end]}
            placeholder={formatNumber(Number(hint.toPrecision(2)))}
            aria-label={`${name} ${label}`}
            onInput={(event) => onChange({ [end]: event.currentTarget.value })}
          />
        </label>
      ))}
    </>
  );
}
