import { useState } from 'preact/hooks';

interface Drop {
  /** Something is held over it. */
  readonly isOver: boolean;
  /** To be spread onto the place. */
  readonly on: {
    onDragOver(event: DragEvent): void;
    onDragLeave(): void;
    onDrop(event: DragEvent): void;
  };
}

/** A place on which files may be dropped. */
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
