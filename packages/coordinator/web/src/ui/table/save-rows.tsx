import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../button/button.js';
import { toastFault } from '../dialog/toasts.js';
import { CsvFile, JsonFile } from '../text/csv.js';
import type { RowsFile } from '../text/csv.js';
import { formatCount, plural } from '../text/format.js';
import { saveText } from '../text/save-text.js';
import { MAX_SAVED_ROWS, readAll } from './all-rows.js';
import type { AllRows } from './all-rows.js';

interface SaveRowsProps<Row> extends AllRows<Row> {
  /** Of the file, without its ending: `jobs`. */
  readonly name: string;
}

/** Saves all rows of a list, also those that are not loaded, with all their fields. */
export function SaveRows<Row extends object>({ name, ...all }: SaveRowsProps<Row>) {
  /** Rows read so far; null: none are being read. */
  const [count, setCount] = useState<number | null>(null);
  const [isCut, setCut] = useState(false);
  const reading = useRef<AbortController | null>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const save = async (file: RowsFile): Promise<void> => {
    const { signal } = (reading.current = new AbortController());
    setCut(false);
    try {
      const isWhole = await readAll(all, file, { signal, onRows: setCount });
      saveText(`${name}.${file.ending}`, file.type, file.text());
      setCut(!isWhole);
    } catch (thrown) {
      if (!signal.aborted) toastFault(thrown);
    } finally {
      setCount(null);
    }
  };
  const isBusy = count !== null;
  return (
    <p class="save-rows small soft">
      Save as
      <Button small tone="quiet" busy={isBusy} onClick={() => void save(new CsvFile())}>
        CSV
      </Button>
      <Button small tone="quiet" busy={isBusy} onClick={() => void save(new JsonFile())}>
        JSON
      </Button>
      {isBusy && (
        <>
          <span>{plural(count, 'row')} read</span>
          <Button small onClick={() => reading.current?.abort()}>
            Cancel
          </Button>
        </>
      )}
      <span role="status">{isCut ? CUT : ''}</span>
    </p>
  );
}

const CUT =
  `The file has the first ${formatCount(MAX_SAVED_ROWS)} rows, which is the most. ` +
  'Filter the list to save others.';
