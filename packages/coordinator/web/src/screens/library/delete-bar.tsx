import { useState } from 'preact/hooks';
import { withEach } from '../../api/jobs.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { plural } from '../../ui/text/format.js';
import { SelectionBar } from '../../ui/table/selection-bar.js';
import { toast } from '../../ui/dialog/toasts.js';
import { deleteAsset } from './asset.js';
import type { Asset } from './asset.js';

interface DeleteBarProps {
  /** Those that are chosen. */
  readonly files: readonly Asset[];
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
  readonly onGone: (ids: readonly string[]) => Promise<void>;
}

export function DeleteBar({ files, onChoose, onGone }: DeleteBarProps) {
  const [isAsking, setAsking] = useState(false);
  const count = plural(files.length, 'file');
  const remove = async (): Promise<void> => {
    const ids = files.map(({ id }) => id);
    const { done, fault } = await withEach(ids, deleteAsset);
    await onGone(done);
    if (fault === null) toast(`Deleted ${plural(done.length, 'file')}.`);
    else toast(`Deleted ${done.length} of ${count}. ${fault.message}`, 'bad');
  };
  return (
    <SelectionBar what="files" count={count} onClear={() => onChoose(new Set())}>
      <Button small tone="danger" icon="trash-2" onClick={() => setAsking(true)}>
        Delete {count}
      </Button>
      {isAsking && (
        <Confirm
          title={`Delete ${count}?`}
          text="They are gone for good, also for whoever has an address. Usage stays as counted."
          verb={`Delete ${count}`}
          action={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </SelectionBar>
  );
}
