import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { Check, TextField } from '../../ui/form/field.js';
import { QuotaFields, quotaOf, typedQuota, writtenQuota } from '../../ui/form/quota-fields.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { toast } from '../../ui/dialog/toasts.js';
import type { MatrixRow } from './matrix-rows.js';
import { selectorOf } from './shares.js';
import type { Audience, GivenShare } from './shares.js';

interface ShareLimitsProps {
  readonly row: MatrixRow;
  readonly audience: Audience;
  readonly share: GivenShare;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** The limits of a share; an empty field means no limit. */
export function ShareLimits({ row, audience, share, onDone, onClose }: ShareLimitsProps) {
  const { provider, subject, what } = row;
  const [draft, setDraft] = useState(() => draftOf(share));
  const [quota, setQuota] = useState(() => typedQuota(writtenQuota(share)));
  const set = (part: Partial<Draft>): void => setDraft({ ...draft, ...part });
  const save = async (): Promise<void> => {
    const target = { provider: provider.id, ...subject, ...selectorOf(audience) };
    await my('provider.share', { ...target, ...limitsOf(draft), ...quotaOf(quota) });
    toast('The limits are set.');
    await onDone();
  };
  const title = `Limits of ${what} for ${audience.name}`;
  return (
    <FormDialog title={title} verb="Save" action={save} onClose={onClose}>
      <TextField
        label="Slots at once"
        hint="For all who use it, together. Empty: as many as there are."
        type="number"
        min={1}
        max={1024}
        value={draft.slots}
        onValue={(slots) => set({ slots })}
      />
      <TextField
        label="Tokens of one answer"
        hint="Empty: no limit of its own."
        type="number"
        min={1}
        max={1_000_000}
        value={draft.tokens}
        onValue={(tokens) => set({ tokens })}
      />
      <Check
        label="Only at some hours of the day"
        checked={draft.hasHours}
        onChecked={(hasHours) => set({ hasHours })}
      />
      {draft.hasHours && <Hours draft={draft} onSet={set} />}
      <p class="soft small">All others together may use of it; your own calls do not count:</p>
      <QuotaFields value={quota} used={share.used ?? undefined} onValue={setQuota} />
    </FormDialog>
  );
}

interface HoursProps {
  readonly draft: Draft;
  readonly onSet: (part: Partial<Draft>) => void;
}

function Hours({ draft, onSet }: HoursProps) {
  return (
    <div class="columns hours">
      <TextField
        label="From"
        type="time"
        required
        value={draft.from}
        onValue={(from) => onSet({ from })}
      />
      <TextField
        label="Until"
        type="time"
        required
        value={draft.until}
        onValue={(until) => onSet({ until })}
      />
      <TextField
        label="Time zone"
        hint="Such as Europe/Berlin."
        required
        value={draft.zone}
        onValue={(zone) => onSet({ zone })}
      />
    </div>
  );
}

interface Draft {
  readonly slots: string;
  readonly tokens: string;
  readonly hasHours: boolean;
  readonly from: string;
  readonly until: string;
  readonly zone: string;
}

/** The default hours: the owner's night. */
const NIGHT = { from: '22:00', until: '07:00' };

function draftOf({ slots, max_tokens: tokens, hours }: GivenShare): Draft {
  const [span = '', zone] = (hours ?? '').split(' ');
  const [from = '', until] = span.split('-');
  return {
    slots: slots === null ? '' : String(slots),
    tokens: tokens === null ? '' : String(tokens),
    hasHours: hours !== null,
    ...(until === undefined ? NIGHT : { from, until }),
    zone: zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

function limitsOf({ slots, tokens, hasHours, from, until, zone }: Draft) {
  return {
    slots: slots === '' ? null : Number(slots),
    max_tokens: tokens === '' ? null : Number(tokens),
    hours: hasHours ? `${from}-${until}` : null,
    time_zone: hasHours ? zone.trim() : null,
  };
}
