import { useState } from 'preact/hooks';
import { Badge } from '../../ui/figures/badge.js';
import { Banner } from '../../ui/dialog/banner.js';
import { Button } from '../../ui/button/button.js';
import { IconButton } from '../../ui/button/icon-button.js';
import { plural } from '../../ui/text/format.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { my } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { toast } from '../../ui/dialog/toasts.js';
import { matrixRows } from './matrix-rows.js';
import type { MatrixRow } from './matrix-rows.js';
import type { Audience, GivenShare, OwnProvider } from './shares.js';
import { limitsText, selectorOf, shareFor, widerShare } from './shares.js';
import { ShareLimits } from './share-limits.js';
import './sharing.css';

interface ShareMatrixProps {
  readonly providers: readonly OwnProvider[];
  readonly audiences: readonly Audience[];
  readonly shares: readonly GivenShare[];
  readonly onChange: () => Promise<void>;
}

/** Ticking a box shares at once; unticking it ends the share. */
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

interface ShareCellProps {
  readonly row: MatrixRow;
  readonly audience: Audience;
  /** Shares of the row's provider. */
  readonly shares: readonly GivenShare[];
  readonly onWarning: (warning: string | null) => void;
  readonly onChange: () => Promise<void>;
}

function ShareCell({ row, audience, shares, onWarning, onChange }: ShareCellProps) {
  const { provider, subject, what } = row;
  const [isOpen, setOpen] = useState(false);
  const share = shareFor(shares, subject, audience);
  const wider = share === undefined ? widerShare(row, shares, audience) : null;
  const toggle = useToastedAct(async () => {
    onWarning(share === undefined ? await shareIt(row, audience) : await endIt(provider.id, share));
    toast(`${share === undefined ? 'Shared' : 'No longer shared'} with ${audience.name}.`);
    await onChange();
  });
  const label = `Share ${what} of ${provider.name} with ${audience.name}`;
  const note = wider === null ? limitsText(share ?? NO_LIMITS) : `with ${wider}`;
  return (
    <span class="share-cell">
      <label class="choose">
        <input
          type="checkbox"
          aria-label={wider === null ? label : `${label}: already shared, ${note}`}
          title={wider === null ? label : `Shared with ${audience.name}, ${note}`}
          // Shows the requested state at once, and the old one again if the request fails.
          checked={wider !== null || (share !== undefined) !== toggle.isBusy}
          disabled={wider !== null}
          onChange={() => !toggle.isBusy && void toggle.run()}
        />
      </label>
      {share !== undefined && (
        <IconButton
          icon="sliders-horizontal"
          label={`Limits of ${what} of ${provider.name} for ${audience.name}`}
          onClick={() => setOpen(true)}
        />
      )}
      <span class="soft small">{note}</span>
      {isOpen && share !== undefined && (
        <ShareLimits
          row={row}
          audience={audience}
          share={share}
          onDone={onChange}
          onClose={() => setOpen(false)}
        />
      )}
    </span>
  );
}

const NO_LIMITS = { slots: null, hours: null, max_tokens: null };

/** Returns the reason if the share has no effect yet. */
async function shareIt({ provider, subject }: MatrixRow, audience: Audience) {
  const { warning } = await my('provider.share', {
    provider: provider.id,
    ...subject,
    ...selectorOf(audience),
    ...NO_LIMITS,
    time_zone: null,
  });
  return warning;
}

async function endIt(provider: string, { id }: GivenShare): Promise<null> {
  const rest = { service: null, model: null, network: null, user: null, all: false };
  await my('provider.unshare', { provider, share: id, ...rest });
  return null;
}
