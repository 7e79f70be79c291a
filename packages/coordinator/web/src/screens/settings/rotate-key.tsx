import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { SelectField } from '../../ui/form/field.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import type { Key, WholeKey } from './keys.js';

const OVERLAPS = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'In 1 hour' },
  { value: '86400', label: 'In 1 day' },
  { value: '604800', label: 'In 7 days' },
] as const;

interface RotateKeyProps {
  readonly subject: Key;
  readonly onRotated: (made: WholeKey) => void;
  readonly onClose: () => void;
}

export function RotateKey({ subject, onRotated, onClose }: RotateKeyProps) {
  const [overlapS, setOverlap] = useState<(typeof OVERLAPS)[number]['value']>('86400');
  const rotate = async (): Promise<false> => {
    onRotated(await my('key.rotate', { key: subject.id, overlap_s: Number(overlapS) }));
    return false;
  };
  return (
    <FormDialog title={`Rotate ${subject.name}`} verb="Rotate" action={rotate} onClose={onClose}>
      <p>
        The key gets a new secret, which is shown once. Its name, its limits and its usage stay.
      </p>
      <SelectField
        label="The old secret ends"
        hint="Until then both work, so that you can replace it without a gap."
        value={overlapS}
        options={OVERLAPS}
        onValue={setOverlap}
      />
    </FormDialog>
  );
}
