import type { ComponentChildren } from 'preact';
import { SelectField, TextField } from '../../ui/form/field.js';
import type { Option } from '../../ui/form/field.js';
import { useQuery } from '../../ui/form/query.js';

/** One filter of a list, stored in the URL. */
export interface Facet {
  /** Name of the query parameter. */
  readonly name: string;
  readonly label: string;
  /** Without the empty option, which matches everything. */
  readonly options: readonly Option<string>[];
}

/** The URL may have been typed by hand: an unknown option is ignored. */
export function chosenOf(
  { name, options }: Facet,
  query: Readonly<Record<string, string>>,
): string {
  return options.find(({ value }) => value === query[name])?.value ?? '';
}

interface FacetBarProps {
  readonly facets: readonly Facet[];
  /** Plural noun of the text search: `users`; absent if there is no search. */
  readonly searches?: string;
  readonly action?: ComponentChildren;
}

export function FacetBar({ facets, searches, action }: FacetBarProps) {
  return (
    <div class="admin-bar">
      <search>
        {searches !== undefined && <Words label={`Search ${searches}`} />}
        {facets.map((facet) => (
          <FacetField key={facet.name} facet={facet} />
        ))}
      </search>
      {action}
    </div>
  );
}

function Words({ label }: { readonly label: string }) {
  const [words, setWords] = useQuery('q');
  return <TextField label={label} type="search" value={words} onValue={setWords} />;
}

function FacetField({ facet }: { readonly facet: Facet }) {
  const { name, label, options } = facet;
  const [value, setValue] = useQuery(name);
  return (
    <SelectField
      label={label}
      value={chosenOf(facet, { [name]: value })}
      options={[{ value: '', label: 'Any' }, ...options]}
      onValue={setValue}
    />
  );
}
