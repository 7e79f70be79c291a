import { useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Fault } from '../../../api/fault.js';
import { Button } from '../../../ui/button/button.js';
import { formatBytes } from '../../../ui/text/format.js';
import { toastFault } from '../../../ui/dialog/toasts.js';
import { FileDrop, MAX_UPLOAD_BYTES } from '../file-drop.js';
import { images, setSource } from './image-state.js';
import { MaskBoard } from './mask-board.js';
import { SOURCE_TYPES, openSource } from './mask-file.js';

/** The picture that is to be changed, and where. */
export function EditSource() {
  const { source } = useCell(images);
  const [isOpening, setOpening] = useState(false);
  const take = async (file: File): Promise<void> => {
    setOpening(true);
    try {
      setSource(await checked(file));
    } catch (thrown) {
      toastFault(thrown);
    } finally {
      setOpening(false);
    }
  };
  if (source === null) {
    return (
      <FileDrop
        icon="image"
        verb={isOpening ? 'Opening…' : 'Choose a picture'}
        hint="Drop a PNG, JPEG or WebP here, or take one of the results."
        accept={SOURCE_TYPES.join(',')}
        onFile={(file) => void take(file)}
      />
    );
  }
  return (
    <div class="stack">
      <div class="row spread">
        <span class="small soft">
          {source.name}, {source.width} × {source.height}
        </span>
        <Button small icon="x" onClick={() => setSource(null)}>
          Another picture
        </Button>
      </div>
      <MaskBoard key={source.url} source={source} />
    </div>
  );
}

async function checked(file: File) {
  if (file.size > MAX_UPLOAD_BYTES) {
    const most = formatBytes(MAX_UPLOAD_BYTES);
    throw new Fault(
      `${file.name} has ${formatBytes(file.size)}; ${most} are allowed. Make it smaller.`,
    );
  }
  return openSource(file, file.name);
}
