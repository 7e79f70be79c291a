import { useState } from 'preact/hooks';
import { LinkButton } from '../../ui/button/button.js';
import { IconButton } from '../../ui/button/icon-button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { formatDate } from '../../ui/text/dates.js';
import { formatBytes, formatMs } from '../../ui/text/format.js';
import { Icon } from '../../ui/button/icon.js';
import { Media, addressOf, kindOf } from '../../ui/markdown/media.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';
import { deleteAsset, fileNameOf, nameOf } from './asset.js';
import type { Asset } from './asset.js';

interface AssetCardProps {
  readonly file: Asset;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly onGone: (ids: readonly string[]) => Promise<void>;
}

export function AssetCard({ file, isChosen, onChoose, onGone }: AssetCardProps) {
  const [isAsking, setAsking] = useState(false);
  const name = nameOf(file);
  const label = `${name} by ${file.model}, ${formatDate(file.created * 1_000)}`;
  const remove = async (): Promise<void> => {
    await deleteAsset(file.id);
    await onGone([file.id]);
    toast('Deleted.');
  };
  return (
    <li class="asset">
      <Preview file={file} label={label} />
      <div class="asset-head">
        <label class="check">
          <input
            type="checkbox"
            checked={isChosen}
            aria-label={`Select ${label}`}
            onChange={onChoose}
          />
          <strong>{name}</strong>
        </label>
        <LinkButton
          small
          tone="quiet"
          icon="download"
          href={addressOf(file)}
          download={fileNameOf(file)}
        >
          <span class="unseen">Download {label}</span>
        </LinkButton>
        <IconButton icon="trash-2" label={`Delete ${label}`} onClick={() => setAsking(true)} />
      </div>
      <p class="small mono asset-model">{file.model}</p>
      <p class="small soft">
        <Ago at={file.created * 1_000} />, {sizeOf(file)}, expires{' '}
        <Ago at={file.expires_at * 1_000} />
      </p>
      {isAsking && (
        <Confirm
          title={`Delete this ${name.toLowerCase()}?`}
          text="It is gone for good, also for whoever has its address. Usage stays as counted."
          verb="Delete it"
          action={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  );
}

/** All of the same height, whatever they show, so that nothing moves when they have loaded. */
function Preview({ file, label }: { readonly file: Asset; readonly label: string }) {
  const kind = kindOf(file);
  if (kind === 'picture') {
    return (
      <a class="preview" href={addressOf(file)} target="_blank" rel="noreferrer">
        <Media file={file} label={label} lazy />
      </a>
    );
  }
  return (
    <div class="preview">
      {kind === 'sound' && (
        <Icon name={file.endpoint.includes('music') ? 'music' : 'audio-lines'} />
      )}
      <Media file={file} label={label} lazy />
    </div>
  );
}

function sizeOf({ bytes, seconds }: Asset): string {
  const size = formatBytes(bytes);
  return seconds === null ? size : `${formatMs(seconds * 1_000)}, ${size}`;
}
