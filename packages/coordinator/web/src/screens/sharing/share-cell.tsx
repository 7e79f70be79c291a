import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { IconButton } from '../../ui/button/icon-button.js';
import { toast } from '../../ui/dialog/toasts.js';
import { ShareLimits } from './share-limits.js';
import { limitsText, selectorOf, shareFor, widerShare } from './shares.js';
import type { Audience, GivenShare } from './shares.js';
import type { MatrixRow } from './matrix-rows.js';

interface ShareCellProps {
  readonly row: MatrixRow;
  readonly audience: Audience;
  /** Of the row's provider. */
  readonly shares: readonly GivenShare[];
  readonly onWarning: (warning: string | null) => void;
  readonly onChange: () => Promise<void>;
}

export function ShareCell({ row, audience, shares, onWarning, onChange }: ShareCellProps) {
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
      <input
        type="checkbox"
        aria-label={wider === null ? label : `${label}: it is, ${note}`}
        title={wider === null ? label : `Shared with ${audience.name}, ${note}`}
        // What was asked for shows at once, and goes back where it is refused.
        checked={wider !== null || (share !== undefined) !== toggle.isBusy}
        disabled={wider !== null}
        onChange={() => !toggle.isBusy && void toggle.run()}
      />
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

/** Answers why nobody gets anything by it as yet. */
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
