import { useState } from 'preact/hooks';
import { currentSession } from '../../api/session.js';
import { CopyText } from '../../ui/button/copy.js';
import { Segments } from '../../ui/form/field.js';
import { useClearQuery, useQuery } from '../../ui/form/query.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty, NoMatch } from '../../ui/table/states.js';
import { Button } from '../../ui/button/button.js';
import { KeyTable } from './key-table.js';
import { useKeys } from './keys.js';
import type { Key } from './keys.js';
import type { PartProps } from './part-props.js';

const VIEWS = [
  { value: '', label: 'In use' },
  { value: 'revoked', label: 'Revoked' },
] as const;
/** Rows shown at first; revoked keys are never deleted. */
const ROWS = 100;

/** The member's API keys. */
export function Token({ onNewKey }: PartProps) {
  const keys = useKeys();
  return (
    <div class="stack">
      <p class="base-url">
        <span class="soft">Programs call</span>
        <CopyText text={currentSession().gateway.base_url} label="Copy the base URL" />
        <span class="soft">with one of these keys. OpenAI clients work as they are.</span>
      </p>
      <Loaded of={keys} rows={4}>
        {(all) =>
          all.length === 0 ? (
            <NoKeys onNewKey={onNewKey} />
          ) : (
            <Keys keys={all} onNewKey={onNewKey} />
          )
        }
      </Loaded>
    </div>
  );
}

function NoKeys({ onNewKey }: PartProps) {
  return (
    <Empty
      icon="key-round"
      title="You have no key yet."
      text="A new key is shown once, with a first call that you can paste."
    >
      <Button icon="plus" onClick={onNewKey}>
        Create your first key
      </Button>
    </Empty>
  );
}

function Keys({ keys, onNewKey }: PartProps & { readonly keys: readonly Key[] }) {
  const [view, setView] = useQuery('state');
  const clear = useClearQuery();
  const [limit, setLimit] = useState(ROWS);
  const isRevoked = view === 'revoked';
  const fitting = keys.filter(({ state }) => (state === 'revoked') === isRevoked);
  return (
    <>
      <div>
        <Segments
          label="Which keys"
          value={isRevoked ? 'revoked' : ''}
          options={VIEWS}
          onValue={setView}
        />
      </div>
      {fitting.length > 0 && <KeyTable keys={fitting.slice(0, limit)} />}
      {fitting.length === 0 && isRevoked && <NoMatch what="keys" onClear={clear} />}
      {fitting.length === 0 && !isRevoked && <NoKeys onNewKey={onNewKey} />}
      {fitting.length > limit && (
        <div class="row">
          <Button onClick={() => setLimit(limit + ROWS)}>Show more</Button>
        </div>
      )}
    </>
  );
}
