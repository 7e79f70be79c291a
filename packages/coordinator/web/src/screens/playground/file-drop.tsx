import { useRef } from 'preact/hooks';
import { Button } from '../../ui/button/button.js';
import { Icon } from '../../ui/button/icon.js';
import { useDrop } from './use-drop.js';
import './file-drop.css';

interface FileDropProps {
  readonly icon: string;
  /** Label of the button: "Choose a picture". */
  readonly verb: string;
  /** Which files are accepted, in a sentence. */
  readonly hint: string;
  readonly accept: string;
  readonly onFile: (file: File) => void;
}

/** The specification's limit for every upload. */
export const MAX_UPLOAD_BYTES = 25 * 1024 * 1024;

/** An input for one file, which can be dropped or chosen. */
export function FileDrop({ icon, verb, hint, accept, onFile }: FileDropProps) {
  const input = useRef<HTMLInputElement>(null);
  const take = ([file]: readonly File[]): void => {
    if (file !== undefined) onFile(file);
  };
  const { isOver, on } = useDrop(take);
  return (
    <div class={`file-drop${isOver ? ' over' : ''}`} {...on}>
      <Icon name={icon} />
      <p class="soft small">{hint}</p>
      <Button onClick={() => input.current?.click()}>{verb}</Button>
      <input
        ref={input}
        type="file"
        hidden
        accept={accept}
        aria-label={verb}
        onChange={({ currentTarget }) => {
          take([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </div>
  );
}
