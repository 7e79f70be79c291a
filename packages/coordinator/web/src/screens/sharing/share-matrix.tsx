import { useState } from 'preact/hooks';
import { Badge } from '../../ui/figures/badge.js';
import { Banner } from '../../ui/dialog/banner.js';
import { Button } from '../../ui/button/button.js';
import { IconButton } from '../../ui/button/icon-button.js';
import { plural } from '../../ui/text/format.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { matrixRows } from './matrix-rows.js';
import type { MatrixRow } from './matrix-rows.js';
import { ShareCell } from './share-cell.js';
import type { Audience, GivenShare, OwnProvider } from './shares.js';
import './sharing.css';

interface ShareMatrixProps {
  readonly providers: readonly OwnProvider[];
  readonly audiences: readonly Audience[];
  readonly shares: readonly GivenShare[];
  readonly onChange: () => Promise<void>;
}

/** A tick shares at once, and without it nothing is shared any more. */
export function ShareMatrix({ providers, audiences, shares, onChange }: ShareMatrixProps) {
  const [isWhole, setWhole] = useState(false);
  const [warning, setWarning] = useState<string | null>(null);
  const { rows, hidden } = matrixRows(providers, shares, isWhole);
  const withColumn = (audience: Audience): Column<MatrixRow> => ({
    head: audience.kind === 'network' ? audience.name : `${audience.name} (one person)`,
    cell: (row) => (
      <ShareCell
        row={row}
        audience={audience}
        shares={shares.filter(({ provider_id: id }) => id === row.provider.id)}
        onWarning={setWarning}
        onChange={onChange}
      />
    ),
  });
  return (
    <>
      {warning !== null && (
        <Banner mood="warn" text={warning}>
          <IconButton icon="x" label="Close the note" onClick={() => setWarning(null)} />
        </Banner>
      )}
      <Table
        caption="What is shared with whom"
        columns={[nameColumn(providers.length > 1), ...audiences.map(withColumn)]}
        rows={rows}
        rowKey={({ key }) => key}
        isWide
      />
      {(hidden > 0 || isWhole) && (
        <p class="list-foot soft small">
          {hidden > 0 && `${plural(hidden, 'model')} more`}
          <Button small onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : 'Show all'}
          </Button>
        </p>
      )}
    </>
  );
}

function nameColumn(isOfMany: boolean): Column<MatrixRow> {
  return {
    head: 'What',
    isName: true,
    kind: 'grow',
    cell: ({ kind, what, provider, isServed }) => (
      <span class={`subject ${kind}`}>
        {kind === 'everything' ? (
          <>
            {isOfMany && <b>{provider.name}</b>}
            <span class={isOfMany ? 'soft' : ''}>Everything</span>
          </>
        ) : (
          <span class="mono">{what}</span>
        )}
        {kind === 'service' && <Badge>service</Badge>}
        {!isServed && <Badge mood="warn">not served now</Badge>}
      </span>
    ),
  };
}
