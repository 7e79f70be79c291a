import { useRef, useState } from 'preact/hooks';
import { Fault } from '../../api/fault.js';
import { Button } from '../../ui/button/button.js';
import { Icon } from '../../ui/button/icon.js';
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

interface Drop {
  /** True while a dragged file is over the area. */
  readonly isOver: boolean;
  /** Spread onto the element. */
  readonly on: {
    onDragOver(event: DragEvent): void;
    onDragLeave(): void;
    onDrop(event: DragEvent): void;
  };
}

/** An area on which files may be dropped. */
export function useDrop(onFiles: (files: readonly File[]) => void): Drop {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    on: {
      onDragOver(event) {
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop(event) {
        event.preventDefault();
        setOver(false);
        onFiles([...(event.dataTransfer?.files ?? [])]);
      },
    },
  };
}

/** Throws a `Fault` if the browser cannot read the file. */
export function dataUrl(file: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => done(reader.result as string));
    reader.addEventListener('error', () =>
      failed(new Fault('The file cannot be read. Take another.', { code: 'page' })),
    );
    reader.readAsDataURL(file);
  });
}
